#!/bin/bash
# B01. Takes for ever: the fact is limit time, at the limit plus at most two
# seconds, and the verdict is the judge's.
# More of the kind: in the import, in a call, on the way out; in a child while
# the parent waits; timers and signals without an end; vfork; a reader of its
# own channel; an iterator that never ends; processor time.
. selftest/payload/judged.sh
runs
timely() {	# LIMIT-MS NAME
	local took
	took=$(ask 'max(a["wall_ms"] for a in d["answers"])')
	[ "$took" -ge $(($1 - 50)) ] && [ "$took" -le $(($1 + 2000 * slow)) ]
	ok $? "$2: at the limit plus at most 2 s ($took ms)"
}
echo 'print("done")' | answer ends.py
run runs.sh ends.py -t 0.5
is "$(facts limit exit_code stdout | xargs)" "None 0 done" \
    "control: an answer that ends has no limit"
while IFS='|' read -r name code; do
	printf 'import os, signal, sys, threading, time\n%b\n' "$code" |
	    answer ever.py
	(cd "$work/open" && cp "$work/a/ever.py" . && plain sh -c \
	    "exec timeout -s KILL 0.4 $PY ever.py" >/dev/null 2>&1)
	st=$?
	[ $st = 137 ] || [ $st = 124 ]
	ok $? "control: outside it goes on and on: $name ($st)"
	run runs.sh ever.py -t 0.5
	gives "$zero" "$name"
	is "$(facts limit signal)" "time 9" "$name: limit time"
	is "$(ask 'd["details"].split()[0]')" 124 "$name: the judge's 124"
	timely 500 "$name"
done <<'E'
a loop|while True: pass
a sleep|time.sleep(1e9)
an empty pipe|r, w = os.pipe(); os.read(r, 1)
500 threads|threading.stack_size(1 << 18)\ne = threading.Event()\nfor i in range(500): threading.Thread(target=e.wait, daemon=True).start()\ne.wait()
all signals ignored|for s in range(1, 65):\n  try: signal.signal(s, signal.SIG_IGN)\n  except (OSError, ValueError): pass\nwhile True: pass
all signals blocked|signal.pthread_sigmask(0, range(1, 65))\nwhile True: time.sleep(9)
a child that loops|p = os.fork()\nif p: os.waitpid(p, 0)\nwhile True: pass
a handler that raises no end|signal.signal(14, lambda *a: signal.setitimer(0, 1e-5))\nsignal.setitimer(0, 1e-5)\nwhile True: time.sleep(9)
in a finalizer|class D:\n  def __del__(self): time.sleep(1e9)\nd = D()
at exit|import atexit\natexit.register(time.sleep, 1e9)
a thread that is left|threading.Thread(target=time.sleep, args=(1e9,)).start()
an integer's power|x = 7 ** (7 ** 12)
a pattern|import re\nre.match("(a*)*b", "a" * 60)
every signal sent to itself|for s in (1, 2, 15):\n  signal.signal(s, signal.SIG_IGN)\nwhile True: os.kill(os.getpid(), 15)
no end of children|import subprocess\nwhile True: subprocess.call(["true"])
E

# Called: a deadline for each call, and the verdict is the judge's.
while IFS='|' read -r name code; do
	printf 'import os, signal, sys, threading, time\n%b\n' "$code" |
	    answer ever.py
	run "$usual" ever.py -t 0.5 --judge-timeout $((20 * slow))
	gives "$zero" "called: $name"
	[ "$(ask 'd["wall_ms"]')" -lt $((6500 * slow)) ]	# three calls of it
	ok $? "called: $name: each call ends ($(ask 'd["wall_ms"]') ms)"
done <<'E'
at the import|while True: pass
in a call|def add(a, b):\n  time.sleep(1e9)
in its replies|def add(a, b):\n  for i in range(3, 30):\n    try: os.write(i, b"\\x00\\x00\\x00\\x01")\n    except OSError: pass\n  time.sleep(1e9)
bit by bit|def add(a, b):\n  for n in range(10**9):\n    time.sleep(0.01)\n    for i in range(3, 30):\n      try: os.write(i, b" " if n > 4 else b"\\xff\\xff\\x00\\x00"[n:n+1] or b" ")\n      except OSError: pass
an iterator|class I:\n  def __iter__(self): return self\n  def __next__(self): time.sleep(1e9)\ndef add(a, b): return I()
E
verifier listing.py <<'E'
import importlib.util, json, sys
def main():
    spec = importlib.util.spec_from_file_location("s", sys.argv[1])
    mod = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mod)
    good = list(mod.items()) == [1, 2]
    print(json.dumps({"score": float(good), "passed": good}))
    return not good
if __name__ == "__main__":
    sys.exit(main())
E
printf 'def items():\n\tyield 1\n\tyield 2\n' | answer items.py
run listing.py items.py -t $slow --judge-timeout $((8 * slow))
gives "$full" "control: a generator that ends"
printf 'def items():\n\twhile True: yield 1\n' | answer items.py
run listing.py items.py -t $slow --judge-timeout $((4 * slow))
gives "$zero" "a generator that never ends"
printf 'class L(list):\n\tdef __iter__(s): return s\n\tdef __next__(s): return 1\ndef items(): return L()\n' |
    answer items.py
run listing.py items.py -t $slow --judge-timeout $((4 * slow))
gives "$zero" "a list that never ends, by its own account"

# Processor time is bounded as well.
echo 'while True: pass' | answer ever.py
run runs.sh ever.py -t 6 --cpu-time 1
gives "$zero" "processor time"
like "$(facts limit signal)" "cpu (9|24)" "processor time: limit cpu"
[ "$(ask 'd["answers"][0]["cpu_ms"]')" -lt 3500 ]
ok $? "processor time: at the limit plus at most two seconds"
done_testing
