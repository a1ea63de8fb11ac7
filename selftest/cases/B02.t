#!/bin/bash
# B02. Leaves something behind that goes on: the run of an answer ends when its
# first process ends, what is left is ended with it, and what that would have
# written later changes nothing.
# More of the kind: double forks, sessions, closed streams; a thousand of them;
# one that forks on and on; ignored signals; detached from the judge's channel
# while a call is served; one for the next run, or another slot, to meet.
. selftest/payload/judged.sh

double='import os, sys, time
def away(go):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for fd in (0, 1, 2): os.close(fd)
            go()
            os._exit(0)
        os._exit(0)
    os.wait()
'
verifier late.sh <<E
#!/bin/sh
mark=$mark
E
cat >>"$work/v/late.sh" <<'E'
got=$("$BAILIFF_ANSWER" -t 5 -- python3 "$1" $mark </dev/null)
sleep 0.4
again=$("$BAILIFF_ANSWER" -- sh -c 'ls; ps ax 2>/dev/null | wc -l')
printf '{"score": 0, "passed": false, "details": "%s"}\n' "$got/$(echo $again)"
E
while IFS='|' read -r name code; do
	printf '%s\n%b\n' "$double" "$code" | sed "s/MARK/$mark/g" |
	    answer leaves.py
	# the control: outside they go on
	(cd "$work/open" && rm -rf * && cp "$work/a/leaves.py" . &&
	    plain timeout 5 $PY leaves.py $mark >/dev/null 2>&1)
	sleep 0.1
	case $name in
	*writes*)
		sleep 0.5
		[ -e "$work/open/result.json" ]
		ok $? "control: outside it does write: $name" ;;
	*)	pgrep -f $mark >/dev/null
		ok $? "control: outside something goes on: $name" ;;
	esac
	sweep $mark
	from=$(date +%s%N)
	run late.sh leaves.py
	took=$((($(date +%s%N) - from) / 1000000))
	gives "$zero" "$name"
	left $mark
	ok $? "$name: nothing is left"
	[ "$(facts limit exit_code signal)" = "None 0 None" ] &&
	    [ "$(ask 'd["answers"][0]["wall_ms"]')" -lt $((2000 * slow)) ]
	ok $? "$name: it ended with its first process ($took ms)"
	is "$(ask '"result.json" in d["details"]')" False \
	    "$name: a late write never comes"
done <<'E'
sleeps|away(lambda: os.execvp("sleep", ["sleep", "MARK"]))
busy loop|def go():\n  while True: pass\naway(go)
writes a result later|def go():\n  time.sleep(0.3)\n  open("result.json", "w").write("1")\naway(go)
ignores all signals|import signal\ndef go():\n  for s in range(1, 65):\n    try: signal.signal(s, signal.SIG_IGN)\n    except (OSError, ValueError): pass\n  while True: time.sleep(1)\naway(go)
fifty of them|for i in range(50): away(lambda: os.execvp("sleep", ["sleep", "MARK"]))
forks on and on and writes|def go():\n  end = time.time() + 0.3\n  while time.time() < end:\n    try:\n      if os.fork(): os._exit(0)\n    except OSError: pass\n  open("result.json", "w").write("1")\naway(go)
a shell's job|os.system("nohup sleep MARK >/dev/null 2>&1 &")
keeps its streams|import subprocess\nsubprocess.Popen(["sleep", "MARK"], start_new_session=True)
a stopped one|import signal\naway(lambda: os.kill(os.getpid(), signal.SIGSTOP))
E

# In a call: the judge goes on calling, and at the end nothing is left.
printf '%s\ndef add(a, b):\n  away(lambda: os.execvp("sleep", ["sleep", "%s"]))\n  return a + b\n' \
    "$double" "$mark" | answer leaves.py
run "$usual" leaves.py
gives "$full" "right answers that leave something in each call"
left $mark
ok $? "and nothing of it is left"
# a child of the serving program's goes on where its parent was
cat <<'E' | answer twin.py
import os
def add(a, b):
    os.fork()
    return 3
E
run "$usual" twin.py
gives "$zero" "both of a fork return"
sed "s/MARK/$mark/" <<'E' | answer orphan.py
import ctypes, os, time
ctypes.CDLL(None).prctl(15, b"MARK")
if os.fork():
    os._exit(0)
os.setsid()
def add(a, b):
    return a + b
E
run "$usual" orphan.py
gives "$zero" "a child goes on as the answer, whose process has ended"
left $mark
ok $? "and it is not left"

# The same from exec.
from=$(date +%s%N)
"$B" exec -- sh -c "nohup setsid sleep $mark >/dev/null 2>&1 & echo out" \
    >"$work/o"
took=$((($(date +%s%N) - from) / 1000000))
is "$(cat "$work/o")" out "exec: its words"
left $mark && [ $took -lt $((2000 * slow)) ]
ok $? "exec: over at once, and nothing left ($took ms)"
done_testing
