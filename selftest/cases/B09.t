#!/bin/bash
# B09. Looks like a broken machine: what an answer does by its number or its
# words is a fact, and the verdict is the judge's.
# More of the kind: every status that a harness has a use for; signals of all
# kinds; words of the kernel's, Python's and this program's; programs that can't
# be started for each reason; as results of calls.
. selftest/payload/judged.sh
runs

fact() {	# NAME WANT-STATUS WANT-FACTS: the answer from stdin
	answer odd.py
	run runs.sh odd.py -t 5
	gives "$zero" "$1"
	is "$(ask 'd["details"].split()[0]')" "$2" "$1: its status"
	is "$(facts exit_code signal limit)" "$3" "$1: its facts"
}
for s in 9 6 11 15 1 2 3 4 7 8 13 14 24 25 31; do
	fact "signal $s" $((128 + s)) "None $s None" <<<"import os, signal
signal.signal($s, signal.SIG_DFL) if $s != 9 else 0
os.kill(os.getpid(), $s)"
done
for s in 137 125 124 126 127 130 77 64 3 2 1 143 139 255; do
	fact "exit $s" $s "$s None None" <<<"raise SystemExit($s)"
done
for w in "timed out" "out of memory" "Killed" "No space left on device" \
    "bailiff: the command met its limit: time" "Cannot allocate memory" \
    "bailiff-answer: broken" "Connection reset by peer" \
    "the answer could not be run" "infrastructure"; do
	fact "says: $w" 1 "1 None None" <<<"import sys; sys.exit('$w')"
done
fact "a syntax error" 1 "1 None None" <<<'def ('
answer odd.py </dev/null
run runs.sh odd.py
is "$st $(short) $(facts exit_code limit)" "$zero 0 None" "an empty file"
fact "kills what started it" 1 "1 None None" \
    <<<'import os; os.kill(os.getppid() or 1, 9)'
answer odd.py <<'E'
import os
os.kill(1, 9); os.kill(-1, 9)
E
run runs.sh odd.py
gives "$zero" "kills all that it can"

# A limit that was met is not what the answer says it was.
verifier status.sh <<'E'
#!/bin/sh
"$BAILIFF_ANSWER" -t 0.4 -- "./$1" >out 2>err </dev/null
printf '{"score": 0, "passed": false, "details": "%s"}\n' $?
E
verifier start.sh <<'E'
#!/bin/sh
"$BAILIFF_ANSWER" -- sh -c "cp $1 x; chmod 755 x"
"$BAILIFF_ANSWER" -- ./x >out 2>err </dev/null
printf '{"score": 0, "passed": false, "details": "%s"}\n' $?
E
could_not() {	# NAME STATUS: the answer from stdin
	answer odd.sh
	run start.sh odd.sh
	gives "$zero" "could not start: $1"
	is "$(ask 'd["details"]')" "$2" "could not start: $1: status $2"
	is "$(ask 'd["answers"][1]["limit"]')" start "could not start: $1: a fact"
}
could_not "an interpreter that isn't there" 127 <<<'#!/no/such/interpreter'
could_not "a cut ELF file" 126 < <(printf '\177ELF')
could_not "an interpreter that is a folder" 126 <<<'#!/work'
could_not "an interpreter that isn't there either" 127 <<<'#!/work/odd.sh'
could_not "no first line" 126 <<<'no program at all'
could_not "a first line that is too long" 127 \
    < <(printf '#!/%0100d' 1; printf '%0100d\n' 1)
run status.sh odd.sh
is "$st $(ask 'd["details"]')" "1 126" "could not start: no right to"
# A program of the answer's own, in a folder, as the first one that a cell runs;
# execve(2) says of it what it also says of a broken disk.
mkdir "$work/a/own"
verifier own.sh <<'E'
#!/bin/sh
"$BAILIFF_ANSWER" -- ./solution/main >out 2>err </dev/null
a=$?
"$BAILIFF_ANSWER" --fresh -- ./solution/main >out 2>err </dev/null
printf '{"score": 0, "passed": false, "details": "%s %s"}\n' $a $?
E
sed 's,-- ./solution/main,-- main,' "$work/v/own.sh" | verifier path.sh
for kind in "EIO behind" "ENAMETOOLONG long" "ENOMEM large" "EFAULT fault"; do
	$PY - "${kind#* }" >"$work/a/own/main" <<'E'
import os, platform, struct, sys
machine = {"x86_64": 62, "aarch64": 183}[platform.machine()]
def program(*heads):
    return b"\x7fELF" + bytes([2, 1, 1, 0]) + bytes(8) + struct.pack(
        "<HHIQQQIHHHHHH", 2, machine, 1, 0x400000, 64, 0, 0, 64, 56,
        len(heads), 0, 0, 0) + b"".join(heads)
def head(kind, offset, size, at=0, memory=None):
    return struct.pack("<IIQQQQQQ", kind, 5, offset, at, at, size,
                       memory or size, 4096 if kind == 1 else 1)
name = b"/" + b"a" * 300 + b"\0"
os.write(1, {
    "behind": program(head(3, 1 << 20, 20)),
    "long": program(head(3, 120, len(name))) + name,
    "large": program(head(1, 0, 64, 0x400000, 1 << 46)),
    "fault": program(head(1, 0, 64, 1 << 62)),
}[sys.argv[1]])
E
	chmod 755 "$work/a/own/main"
	run own.sh "$work/a/own"
	gives "$zero" "its own program: ${kind% *}"
	like "$(ask 'd["details"]')" "(126|139|137) (126|139|137)" \
	    "its own program: ${kind% *}: not run"
	run path.sh "$work/a/own" -e PATH=/work/solution:/usr/bin:/bin
	gives "$zero" "its own program, by PATH: ${kind% *}"
done
for cmd in /no/such/program nosuchword /work ./nothing '""'; do
	verifier cmd.sh <<E
#!/bin/sh
"\$BAILIFF_ANSWER" -- $cmd >out 2>err
printf '{"score": 0, "passed": false, "details": "%s"}\n' \$?
E
	run cmd.sh odd.sh
	gives "$zero" "could not start: $cmd"
	like "$(ask 'd["details"]') $(facts limit)" "12[67] start" \
	    "could not start: $cmd: a fact"
done
# the control: where the machine is broken there is no verdict
verifier lost.sh <<'E'
#!/bin/sh
kill -9 $$
E
run lost.sh odd.sh
none judge_signal "control: what the answer can't do is no verdict"

# As results of a call.
while IFS='|' read -r name code; do
	printf 'import os, errno\n%b\n' "$code" | answer odd.py
	run "$usual" odd.py -t 2 --judge-timeout 20
	gives "$zero" "called: $name"
done <<'E'
raises a machine's error|def add(a, b): raise OSError(errno.ENOSPC, "No space left on device")
raises what a judge's machine might|def add(a, b): raise ConnectionResetError("bailiff is gone")
raises a broken pipe|def add(a, b): raise BrokenPipeError(32, "Broken pipe")
raises memory|def add(a, b): raise MemoryError
raises a time-out|def add(a, b): raise TimeoutError("the judge timed out")
ends with 125|def add(a, b): os._exit(125)
ends with 137|def add(a, b): os._exit(137)
ends with 125 at the import|os._exit(125)
kills itself|def add(a, b): os.kill(os.getpid(), 9)
kills all|def add(a, b): os.kill(-1, 9)
a syntax error|def add(a, b:
an empty file|
RuntimeError of this program's|def add(a, b): raise RuntimeError("the answer could not be run: socket")
closes all and says so|def add(a, b):\n  os.closerange(0, 99)\n  os._exit(125)
E
done_testing
