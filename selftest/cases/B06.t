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

# A machine that has no more processes is no fact about the answer: all that ran
# before it is gone.
verifier twice.py <<E
import bailiff, json, subprocess
a = bailiff.run(["true"])
subprocess.run(["sleep", "$((4 * slow)).$mark"], check=False)
b = bailiff.run(["true"])
good = a.returncode == b.returncode == 0
print(json.dumps({"score": float(good), "passed": good}))
E
fewer() {	# HOW-MANY-MORE: while the judge sleeps the machine comes to have no more
	local i
	for ((i = 0; i < 500; i++)); do
		pgrep -f "^sleep $((4 * slow)).$mark\$" >/dev/null && break
		sleep 0.02
	done
	echo $(($(cat "$machine/pids.current") + $1)) >"$machine/pids.max"
}
if [ $root = 1 ] && [ -n "${BL_SESSION-}" ]; then
	machine=${BL_SESSION%/*}
elif machine=/sys/fs/cgroup/pids/bailiff-B06-$$ &&
    ! { [ $root = 1 ] && mkdir "$machine" 2>"$work/why"; }; then
	machine=
	skip "a machine without processes" "needs root, and a group that counts them"
fi
if [ -n "$machine" ]; then
	for more in 0 30; do
		fewer $more &
		(
			[ -n "${BL_SESSION-}" ] ||
			    echo $BASHPID >"$machine/cgroup.procs"
			run twice.py count.py
			echo "$st $(short)"
		) >"$work/short"
		wait $!
		echo max >"$machine/pids.max"
		refused=$(sed -n 's/^max //p' "$machine/pids.events")
		like "$(cat "$work/short")" "$([ $more = 0 ] &&
		    echo '3 none - True infrastructure .*' ||
		    echo "$full")" "a machine with $more more processes"
		[ $more != 0 ] || [ "$refused" -gt 0 ]
		ok $? "a machine with $more more processes: refused $refused"
	done
	[ -n "${BL_SESSION-}" ] || rmdir "$machine"
fi

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
