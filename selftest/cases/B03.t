#!/bin/bash
# B03. Keeps the pipe open: the end of a program is its end, not the end of its
# pipe, and what was written until then is in the reply.
# More of the kind: standard error; both; the judge's channel; input that nobody
# reads; several holders; output in the pipe at the end; exec.
. selftest/payload/judged.sh

verifier says.py <<'E'
import json, os, subprocess, sys
def main():
    p = subprocess.run([os.environ["BAILIFF_ANSWER"], "-t", "20", "--", "sh",
                        "solution.sh"], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                       check=False)
    print(json.dumps({"score": 0, "passed": False, "details": "%d %s %d" % (
        p.returncode, p.stdout[:40].decode(), len(p.stdout))}))
if __name__ == "__main__":
    main()
E
while IFS='|' read -r name code want; do
	printf '%b\n' "${code//MARK/$mark}" | answer holds.sh
	cp "$work/a/holds.sh" "$work/open/solution.sh"
	# a reader that waits for the pipe's end waits for 300 s
	timeout 0.5 sh -c "sh '$work/open/solution.sh' 2>&1 | cat >/dev/null"
	is $? 124 "control: a reader of the pipe waits: $name"
	sweep $mark
	run says.py holds.sh
	gives "$zero" "$name"
	is "$(ask 'd["details"]')" "$want" "$name: what it wrote, and its end"
	[ "$(ask 'd["answers"][0]["wall_ms"]')" -lt $((1500 * slow)) ]
	ok $? "$name: at once"
	left $mark
	ok $? "$name: nothing left"
done <<'E'
standard output|sleep MARK &\nprintf hello; exit 0|0 hello 5
standard error|sleep MARK >/dev/null &\nprintf hello; exit 3|3 hello 5
both, three times|for i in 1 2 3; do sleep MARK & done; printf hello|0 hello 5
as another session|setsid sleep MARK & printf hello|0 hello 5
with a signal|sleep MARK & printf hello; kill -9 $$|137 hello 5
what is in the pipe|sleep MARK & printf "%060000d" 1|0 0000000000000000000000000000000000000000 60000
from a subshell|(sleep MARK; echo late) & printf hello|0 hello 5
as another descriptor|exec 7>&1; sleep MARK >/dev/null 2>&1 & printf hello|0 hello 5
E

# The channel of calls, held by a child.
cat <<'E' | sed "s/MARK/$mark/" | answer channel.py
import os, subprocess
def add(a, b):
    subprocess.Popen(["sleep", "MARK"], close_fds=False,
                     pass_fds=[f for f in range(3, 40) if fd(f)])
    if a == -1:
        os._exit(0)
    return a + b
def fd(f):
    try:
        os.fstat(f)
        return True
    except OSError:
        return False
E
run "$usual" channel.py -t $((3 * slow))
gives "$zero" "a child holds the channel of a process that has ended"
[ "$(ask 'd["wall_ms"]')" -lt $((3000 * slow)) ]
ok $? "and nobody waits for the channel ($(ask 'd["wall_ms"]') ms)"
left $mark
ok $? "and it is not left"

# exec, and a caller who gives no end of input.
from=$(date +%s%N)
timeout 20 "$B" exec -- sh -c "sleep $mark & echo hello" >"$work/o" < <(sleep 5)
took=$((($(date +%s%N) - from) / 1000000))
is "$(cat "$work/o")" hello "exec: what it wrote"
[ $took -lt 2500 ]
ok $? "exec: at once ($took ms)"
left $mark
ok $? "exec: nothing left"
done_testing
