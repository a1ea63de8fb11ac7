#!/bin/bash
# Each system call that a traced real run of helper, cell init and launch makes
# fails in turn with each errno of its manual page (payload/inject.table).
# Always a clear "no verdict", or, where the table knows why, the same run with
# every wall; never a hang, never anything left.  INJECT=all: at every place.
. selftest/payload/setuid.sh

if [ "$(uname -m)" != x86_64 ]; then
	skip "each call fails in turn" "the tracer knows x86-64 alone"
	done_testing
	exit 0
fi
if ! build inject -lseccomp 2>"$work/err"; then
	skip "each call fails in turn" "libseccomp can't be compiled with"
	done_testing
	exit 0
fi

cp selftest/payload/walls.sh "$work"
install -d -o $ALICE -m 700 "$work/tmp"
mkdir "$work/env" && mkdir -m 1777 "$work/runs"
cat >"$work/env/verifier" <<'END'
#!/usr/bin/python3
import json
import os
import subprocess
seen, score = "", 1
for by in [], [os.environ["BAILIFF_ANSWER"], "--"]:
    p = subprocess.run(by + ["sh", "solution.sh"], capture_output=True, text=True,
                       check=False)
    seen += f"{p.returncode}\n{p.stdout}{p.stderr}"
    if p.returncode != 0:       # as judges do; what it is told must not be ours
        score = 0
print(json.dumps({"score": score, "passed": score == 1, "details": seen}))
END
echo "Be separate." >"$work/env/task.md"
chmod -R a+rX "$work/env" && chmod +x "$work/env/verifier"

everything() {	# what must not change by any of the runs
	cat /proc/self/mountinfo
	find /run /etc/bailiff "$work/tmp" "$work/open" "$work/runs" \
	    -printf '%p %m %U %s\n' | sort
	stat -c '%d %i' /run/bailiff/slots | while read -r dev ino; do
		grep -i "$(printf '%02x:%02x:%d ' $((dev >> 8 & 0xfff)) \
		    $((dev & 0xff | dev >> 12 & 0xfff00)) "$ino")" /proc/locks
	done
}
cell -- true
is $st 0 "control: a run"
as $ALICE "$C" exec -- sleep 2 &
sleep 1
everything | grep -q OFDLCK
ok $? "control: the lock of a slot is seen"
wait
traced() {	# COMMAND...: what the tracer says of it
	"$S/inject" -u $ALICE -g $GROUP -x "$H" -o "$work/fact" -l 1 -- "$@"
	cut -d' ' -f1,2 "$work/fact" | paste -sd' '
}
like "$(traced sleep 60)" "hang client end 137 ms .* hits 0" "control: a run \
that does not end is seen"
like "$(traced sh -c 'sleep 60 & exit 3')" "end 3 ms .* left client hits 0" \
    "control: so is what a run leaves"
everything >"$work/every1"
/usr/bin/python3 selftest/payload/inject.py "$S/inject" "$C" "$H" $ALICE $GROUP \
    "$work" selftest/payload/inject.table >"$work/tap" 2>"$work/tap.err"
st=$?
while IFS= read -r line; do
	case $line in
	"ok "*|"not ok "*)
		n=$((n + 1))
		echo "${line%%- *}$n - ${line#*- }" ;;
	*)	echo "$line" ;;
	esac
done <"$work/tap"
ok $st "all of it was tried" "$work/tap.err"
nothing_left "no process is left of all that"
everything >"$work/every2"
diff "$work/every1" "$work/every2" >"$work/left"
ok $? "no mount, lock or file is, either" "$work/left"
done_testing
