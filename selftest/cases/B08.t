#!/bin/bash
# B08. Stops itself: the fact is limit time, nothing of the harness is stopped,
# and nothing is left, no stopped process either.
# More of the kind: each stopping signal; its group, its session, its parent,
# process 1; again and again; by a child; tracing itself; while it is called;
# stopped with the channel half full.
. selftest/payload/judged.sh
runs

while IFS='|' read -r name code; do
	printf 'import os, signal, subprocess, time, threading\nM = "%s"\ntry:\n%b\nexcept OSError: pass\ntime.sleep(60)\n' \
	    "$mark" "$(sed 's/^/  /; s/\\n/\\n  /g' <<<"$code")" |
	    answer stops.py
	run runs.sh stops.py -t 0.5
	gives "$zero" "$name"
	is "$(facts limit signal)" "time 9" "$name: limit time"
	left $mark
	ok $? "$name: nothing is left"
done <<'E'
STOP to its group|os.kill(0, signal.SIGSTOP)
STOP to itself|os.kill(os.getpid(), signal.SIGSTOP)
STOP to all|os.kill(-1, signal.SIGSTOP)
TSTP to itself|os.kill(os.getpid(), signal.SIGTSTP)
TTIN to its group|os.killpg(0, signal.SIGTTIN)
STOP to its parent|os.kill(os.getppid() or 1, signal.SIGSTOP)
STOP to process 1|os.kill(1, signal.SIGSTOP)
STOP by a child, again and again|p = os.getpid()\nif os.fork() == 0:\n  while True:\n    os.kill(p, signal.SIGCONT); os.kill(p, signal.SIGSTOP)
STOP to a session of its own|os.setsid() if os.getpid() != os.getsid(0) else 0\nos.kill(0, signal.SIGSTOP)
children that are stopped|for i in range(9):\n  p = subprocess.Popen(["sleep", M]); p.send_signal(signal.SIGSTOP)\nos.kill(os.getpid(), signal.SIGSTOP)
traced by its child|import ctypes\np = os.getpid()\nif os.fork() == 0:\n  ctypes.CDLL(None).ptrace(16, p, 0, 0); time.sleep(60)
asks to be traced|import ctypes\nctypes.CDLL(None).ptrace(0, 0, 0, 0)\nos.kill(os.getpid(), signal.SIGTRAP) if False else os.kill(os.getpid(), signal.SIGSTOP)
a process that is stopped at its end|if os.fork() == 0: os.kill(os.getpid(), signal.SIGSTOP)\ntime.sleep(0.1); os.kill(-1, signal.SIGSTOP)
E
# the control: a stopped process ends by nothing it does
(cd "$work/open" && echo 'import os, signal
os.kill(os.getpid(), signal.SIGSTOP)' >s.py && plain sh -c "exec $PY s.py $mark") &
p=$!
sleep $((slow / 2)).5
pid=$(pgrep -f "s.py $mark" | tail -n 1)
like "$(cut -d ' ' -f 3 "/proc/$pid/stat")" "[tT]" \
    "control: outside it is stopped, and stays"
kill -9 "$pid"
wait $p 2>/dev/null

for at in import call; do
	for whom in 'os.kill(0, 19)' 'os.kill(-1, 19)' 'os.kill(os.getpid(), 19)'; do
		if [ $at = import ]; then
			printf '%s\n%s\ndef add(a, b): return 3\n' "$named" \
			    "$whom"
		else
			printf '%s\ndef add(a, b): %s\n' "$named" "$whom"
		fi | answer stops.py
		run "$usual" stops.py -t 0.4 --judge-timeout $((20 * slow))
		gives "$zero" "at $at: $whom"
		[ "$(ask 'd["wall_ms"]')" -lt $((4000 * slow)) ]
		ok $? "at $at: $whom: in time ($(ask 'd["wall_ms"]') ms)"
		left $mark
		ok $? "at $at: $whom: nothing is left"
	done
done
# Stopped in the middle of a long reply.
cat <<'E' | answer half.py
import os, threading, time
def add(a, b):
    p = os.getpid()
    if os.fork() == 0:
        time.sleep(0.05)
        os.kill(p, 19)
        os._exit(0)
    return "x" * (15 << 20)
E
run "$usual" half.py -t 0.5 --judge-timeout $((20 * slow))
gives "$zero" "stopped in the middle of a reply"

timeout 20 "$B" exec -t 0.5 -- sh -c 'kill -STOP -1; kill -STOP $$' 2>/dev/null
is $? 124 "exec: limit time"
timeout 20 "$B" exec -- true
is $? 0 "and the next run goes on"
done_testing
