#!/bin/bash
# B06. Process bomb, zombie storm: the run has its number of processes, another
# run at the same time is refused none, and nothing is left.
# More of the kind: in bash, sh, Python, by threads, by vfork, by clone with
# flags, in sessions; children that exec; while called; two bombs at once.
. selftest/payload/judged.sh
runs

while IFS='|' read -r name code; do
	printf 'import os, signal, subprocess, sys, threading, time\nM = "%s"\n%b\n' \
	    "$mark" "$code" | answer bomb.py
	run runs.sh bomb.py --pids 60 -t 2
	gives "$zero" "$name"
	is "$(ask 'd["answers"][0]["limit"] in (None, "processes", "time")')" \
	    True "$name: an ordinary end, or a limit's: $(facts limit exit_code)"
	left $mark
	ok $? "$name: nothing is left"
	"$B" exec -- sh -c 'true & wait; echo fine' >"$work/o" 2>&1 </dev/null
	is "$(cat "$work/o")" fine "$name: the next run has its processes"
done <<'E'
bash's own|os.execvp("bash", ["bash", "-c", ":(){ :|:& };:; wait"])
forks and forks|while True:\n  try: os.fork()\n  except OSError: pass
forks that sleep|while True:\n  try:\n    if os.fork() == 0: os.execvp("sleep", ["sleep", M])\n  except OSError: time.sleep(0.1)
sessions|while True:\n  try:\n    if os.fork() == 0: os.setsid()\n  except OSError: pass
threads|threading.stack_size(1 << 16)\nwhile True:\n  try: threading.Thread(target=time.sleep, args=(9,), daemon=True).start()\n  except RuntimeError: time.sleep(0.1)
ignoring signals|for s in range(1, 32):\n  try: signal.signal(s, signal.SIG_IGN)\n  except (OSError, ValueError): pass\nwhile True:\n  try: os.fork()\n  except OSError: pass
programs|while True:\n  try: subprocess.Popen(["sleep", M])\n  except OSError: time.sleep(0.1)
5,000 zombies|n = 0\nfor i in range(5000):\n  try:\n    if os.fork() == 0: os._exit(0)\n    n += 1\n  except OSError: pass\nprint(n)
orphans|for i in range(2000):\n  try:\n    if os.fork() == 0:\n      if os.fork() == 0: time.sleep(0.01)\n      os._exit(0)\n    os.wait()\n  except OSError: pass
E

# How many there are: no more than asked for, and as many as that.
cat <<'E' | answer count.py
import os, time
n = 1
while n < 1000:
    try:
        if os.fork() == 0:
            time.sleep(9)
            os._exit(0)
        n += 1
    except OSError as e:
        print("refused at", n, "by", e.errno)
        break
else:
    print("had", n)
E
for most in 20 100; do
	run runs.sh count.py --pids $most
	got=$(ask 'd["answers"][0]["stdout"].split()[2]')
	[ "$got" -le "$most" ] && [ "$got" -ge $((most / 2)) ]
	ok $? "--pids $most: $got at once, then it is refused"
	like "$(ask 'd["answers"][0]["stdout"].strip()')" 'refused at .* by 11' \
	    "--pids $most: with EAGAIN"
done
(cd "$work/open" && cp "$work/a/count.py" . &&
    plain timeout 20 $PY count.py $mark >"$work/o" 2>&1)
sweep $mark
is "$(cat "$work/o")" "had 1000" "control: outside a thousand are had"

# Another run at the same time, of the same caller.
echo 'import os
while True:
    try: os.fork()
    except OSError: pass' | answer bomb.py
cat <<'E' | answer needs.py
import os, time
bad = 0
for i in range(100):
    try:
        p = os.fork()
        if p == 0:
            os._exit(0)
        os.waitpid(p, 0)
    except OSError:
        bad += 1
    time.sleep(0.005)
print("refused", bad)
E
"$B" run --judge "$work/v/runs.sh" --answer "$work/a/bomb.py" --pids 60 \
    -t $((2 * slow)) --json >"$work/bomb.out" 2>&1 &
bomb=$!
sleep 0.3
run runs.sh needs.py
is "$(ask 'd["answers"][0]["stdout"].strip()')" "refused 0" \
    "a run beside a bomb is refused no process"
kill -0 $bomb 2>/dev/null
ok $? "control: the bomb was there all the time"
wait $bomb
is "$(grep -o '"verdict":"[a-z]*"' "$work/bomb.out")" '"verdict":"failed"' \
    "and the bomb has its verdict"
# Both roles of one run do not share the number either.
verifier busy.sh <<'E'
#!/bin/sh
"$BAILIFF_ANSWER" -t 1 -- python3 "$1" >/dev/null 2>&1 </dev/null &
sleep 0.5
i=0
while [ $i -lt 50 ]; do sleep 0 & i=$((i + 1)); done || exit 3
wait
echo '{"score": 0, "passed": false}'
E
run busy.sh bomb.py --pids 60
gives "$zero" "its judge is refused none"

# Called.
{ echo "$named"; cat; } <<'E' | answer called.py
def add(a, b):
    while True:
        try:
            os.fork()
        except OSError:
            if a < 0:
                os._exit(0)
E
run "$usual" called.py --pids 60 -t 1 --judge-timeout 20
gives "$zero" "a bomb in a call"
left $mark
ok $? "a bomb in a call: nothing is left"

# Those of its init and of whatever came before count as well: by its group.
if "$B" exec --require cgroup -- /bin/true 2>"$work/why"; then
	run runs.sh count.py --pids 20
	gives "$zero" "the processes of a run in all, by pids.max"
	is "$(ask 'd["answers"][0]["evidence"]["forks_refused"] > 0,
	    d["judge"]["evidence"]["forks_refused"]')" "(True, 0)" \
	    "they are refused by the group, and the judge is refused none"
else
	skip "the processes of a run in all, by pids.max" \
	    "needs control groups, version 2: $(head -n 1 "$work/why")"
fi
done_testing
