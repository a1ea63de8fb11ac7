#!/bin/bash
# A03. Ends early with success: an end is no pass, whatever its status.
# More of the kind: at the import, at the first call, in a thread, by a signal
# with status 0's look, by another program that ends well, by exceptions that no
# "except Exception" sees; a program that ends well and says nothing.
# An empty set of checks is no pass either.
. selftest/payload/judged.sh

# As a harness does that only looks for a failure.
verifier status.py <<'E'
#!/usr/bin/env python3
import importlib.util, json, sys
def main():
    spec = importlib.util.spec_from_file_location("solution", sys.argv[1])
    mod = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mod)
    if mod.add(2, 3) != 5:
        raise ValueError("wrong")
    print(json.dumps({"score": 1.0, "passed": True}))
if __name__ == "__main__":
    main()
E
# The control is a caller that believes status 0.
believed() {	# ANSWER
	alone status.py "$1" >/dev/null
	echo $alone_st
}
answer right.py <<'E'
def add(a, b):
    return a + b
E
run status.py right.py
gives "$full" "an honest answer"
is "$(believed right.py)" 0 "and without walls"

ends='sys.exit(0)
os._exit(0)
raise SystemExit
raise SystemExit(0)
raise SystemExit("done")
sys.exit()
exit()
quit(0)
os.execvp("true",["true"])
os.kill(os.getpid(),15)
raise KeyboardInterrupt
os.abort()
raise GeneratorExit
os.execv("/bin/sh",["sh","-c","exit 0"])
threading.Thread(target=lambda:os._exit(0)).start();time.sleep(9)
signal.raise_signal(2)
os.killpg(0,9)
os.closerange(0,99);os._exit(0)'
while IFS= read -r e; do
	printf 'import os, sys, signal, threading, time\n%s\n' "$e" |
	    answer import.py
	printf 'import os, sys, signal, threading, time\ndef add(a, b):\n\t%s\n' \
	    "$e" | answer call.py
	for a in import call; do
		got=$(believed $a.py)
		case $e in
		*done*|*Interrupt|*abort*|*kill*|*signal*|*GeneratorExit)
			want='[1-9][0-9]*' ;;	# nobody takes these for a pass
		*)	want=0 ;;
		esac
		like "$got" "$want" "control: at $a, $e: status $got"
		run status.py $a.py -t 3
		gives "$zero" "at $a: $e"
	done
done <<<"$ends"

# The same for a program: its status is worth nothing alone.
answer says_nothing.py <<'E'
E
answer run_right.py <<'E'
print(sum(map(int, input().split())))
E
honest "$piped" run_right.py "an honest program"
for e in '' 'raise SystemExit(0)' '__import__("os")._exit(0)' \
    '__import__("os").execvp("true", ["true"])' 'raise KeyboardInterrupt' \
    '__import__("os").abort()'; do
	echo "$e" | answer says_nothing.py
	run "$piped" says_nothing.py
	gives "$zero" "a program that ends: ${e:-at once}"
done

# Tests that the answer should run and list itself: none listed, none passed.
verifier listed.py <<'E'
#!/usr/bin/env python3
# __name__: a whole program
import json, os, subprocess
p = subprocess.run([os.environ["BAILIFF_ANSWER"], "--", "python3",
                    "solution.py"], stdout=subprocess.PIPE, check=False)
WANT = {b"one", b"two"}
seen = {x[3:] for x in p.stdout.split(b"\n") if x.startswith(b"ok ")}
good = bool(WANT) and p.returncode == 0 and WANT <= seen
print(json.dumps({"score": len(WANT & seen) / 2, "passed": good}))
E
echo 'print("ok one\nok two")' | answer lists.py
run listed.py lists.py
gives "$full" "all that is wanted is listed"
echo 'raise SystemExit(0)' | answer lists.py
run listed.py lists.py
is "$st $(short)" "1 failed 0.0 False" "nothing is listed: no pass"
echo 'print("ok one"); raise SystemExit(0)' | answer lists.py
run listed.py lists.py
is "$st $(short)" "1 failed 0.5 False" "one of two is listed: no pass"
verifier empty.py <<'E'
#!/usr/bin/env python3
import json
if __name__ == "__main__":
    for test in []:
        print(json.dumps({"score": 1.0, "passed": True}))
E
run empty.py right.py
none judge_no_output "a judge without any check gives no verdict"
done_testing
