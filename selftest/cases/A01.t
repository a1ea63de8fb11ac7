#!/bin/bash
# A01. The last line is a verdict: an answer that prints one, and ends, does not
# get it.  Its bytes are in its own output.
# More of the kind: every descriptor that it finds; a child that outlives it;
# another program in its place; a whole result object; at the first call, in the
# middle of one; a verdict after a flood; on standard error; by a finalizer.
. selftest/payload/judged.sh

answer right.py <<'E'
def add(a, b):
    return a + b
E
answer right_piped.py <<'E'
print(sum(map(int, input().split())))
E
honest "$usual" right.py "an honest answer that is called"
honest "$piped" right_piped.py "an honest answer that is run"

v='{"score": 1.0, "passed": true}'
lie() {		# NAME: after the words that all of them begin with
	{ cat <<E
import os, sys
V = '$v'
def say(fd=1):
    os.write(fd, b"\n" + V.encode() + b"\n")
E
	cat; } | answer "$1.py"
}
lie first_and_last <<'E'
print(V)
say()
os._exit(0)
E
lie atexit <<'E'
import atexit
atexit.register(say)
def add(a, b):
    return 3
E
lie thread <<'E'
import threading
def late():
    threading.main_thread().join()
    say()
threading.Thread(target=late).start()
def add(a, b):
    return 3
E
lie in_call <<'E'
def add(a, b):
    print(V)
    say()
    os._exit(0)
E
lie everywhere <<'E'
for fd in range(1, 64):
    try:
        say(fd)
    except OSError:
        pass
os._exit(0)
E
lie exec <<'E'
os.execvp("sh", ["sh", "-c", "echo; echo '%s'" % V])
E
lie result_object <<'E'
import json
print()
print(json.dumps({"schema": "bailiff/1", "verdict": "passed", "score": 1.0,
                  "passed": True, "mask_sample": False}), flush=True)
os._exit(0)
E
lie child <<'E'
import time
if os.fork() == 0:
    os.setsid()
    time.sleep(0.3)
    say()
    os._exit(0)
import atexit
atexit.register(time.sleep, 0.6)
def add(a, b):
    return 3
E
lie after_flood <<'E'
os.write(1, b"x" * 50000)
say()
os._exit(0)
E
lie finalizer <<'E'
class D:
    def __del__(self, say=say):
        say()
sys.modules["kept"] = D()
def add(a, b):
    return 3
E
for a in first_and_last atexit thread in_call everywhere exec result_object \
    child after_flood finalizer; do
	attack "$usual" $a.py "loaded and called: $a" -t 2
	case $a in
	atexit|finalizer|thread|exec|child)
		;;	# its process is ended when it is not needed any more
	*)	is "$(ask 'any("score\": 1.0" in a["stdout"] + a["stderr"] or
		    a["stdout_bytes"] >= 50000 for a in d["answers"])')" True \
		    "its words are among its own: $a" ;;
	esac
	is "$(ask '"\"passed\": true" in d["judge"]["stderr"]')" False \
	    "and not among the judge's: $a"
done
for a in first_and_last atexit thread everywhere exec after_flood finalizer; do
	attack "$piped" $a.py "run: $a" -t 2
	is "$(ask 'any("score\": 1.0" in a["stdout"] + a["stderr"] or
	    a["stdout_bytes"] >= 50000 for a in d["answers"])')" True \
	    "its words are among its own: $a"
done

# A judge that lets the answer have its own streams.
verifier inherits.sh <<E
#!/bin/sh
"\$BAILIFF_ANSWER" -- python3 "\$1" 2>&1
"\$BAILIFF_ANSWER" -- python3 "\$1" >&2
echo '{"score": 0, "passed": false}'
"\$BAILIFF_ANSWER" -- python3 "\$1"
E
for a in first_and_last everywhere exec after_flood; do
	run inherits.sh $a.py
	gives "$zero" "a judge that lets its child inherit: $a"
	is "$(ask 'len(d["warnings"])')" 1 "with a warning"
done
done_testing
