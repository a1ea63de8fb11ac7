#!/bin/bash
# I03. No room to tell: standard output is a full device, a closed pipe, a pipe
# that nobody reads, a full disk.  No half document with exit status 0.
# More of the kind: closed descriptors, one that is only for reading, --status-fd
# and --meta, exec's streams, --artifacts and --get without room; passed and not
# passed and no verdict; standard error is full as well.
. selftest/payload/judged.sh

answer right.py <<'E'
def add(a, b):
    return a + b
E
echo 'def add(a, b): return 3' | answer wrong.py
echo 'raise SystemExit' | answer ends.py
full=("$B" run --judge "$usual" --answer)
for how in "--json" ""; do
	w=${how:-in words}
	for a in right wrong ends; do
		# shellcheck disable=SC2086
		"${full[@]}" "$work/a/$a.py" $how >/dev/full 2>"$work/err"
		is $? 3 "a full device: $a, $w"
		# shellcheck disable=SC2086
		("${full[@]}" "$work/a/$a.py" $how 2>"$work/err"
		echo $? >"$work/st") | :
		is "$(cat "$work/st")" 3 "a closed pipe: $a, $w"
		# shellcheck disable=SC2086
		"${full[@]}" "$work/a/$a.py" $how >&- 2>"$work/err"
		is $? 3 "a closed descriptor: $a, $w"
		# shellcheck disable=SC2086
		"${full[@]}" "$work/a/$a.py" $how 1</dev/null 2>"$work/err"
		is $? 3 "a descriptor for reading: $a, $w"
		# shellcheck disable=SC2086
		"${full[@]}" "$work/a/$a.py" $how >/dev/full 2>&1
		is $? 3 "both are full: $a, $w"
		# shellcheck disable=SC2086
		"${full[@]}" "$work/a/$a.py" $how --exit-zero >/dev/full \
		    2>"$work/err"
		is $? 3 "a full device with --exit-zero: $a, $w"
	done
done
for a in right wrong; do
	"${full[@]}" "$work/a/$a.py" --json >"$work/out" 2>"$work/err"
	is "$? $(ask 'd["verdict"]')" \
	    "$([ $a = right ] && echo 0 passed || echo 1 failed)" \
	    "control: with room it is told: $a"
done
# the control: a program that doesn't look ends with 0
$PY -c 'import os
try: os.write(1, b"{}")
except OSError: pass' >/dev/full
is $? 0 "control: one that does not look at it ends with 0"

# A disk that is full after some bytes, of a result that is longer than that.
echo 'print("x" * 100000)' | answer long.py
runs
if [ $root = 1 ]; then
	mkdir "$work/small"
	unshare -m --propagation private sh -c '
	    mount -t tmpfs -o size=4k none "$1" || exit 77
	    "$2" run --judge "$3" --answer "$4" --json --keep-output 64k \
	        >"$1/out" 2>/dev/null
	    echo $? >"$5"; wc -c <"$1/out" >>"$5"' sh "$work/small" "$B" \
	    "$work/v/runs.sh" "$work/a/long.py" "$work/st"
	like "$(xargs <"$work/st")" "3 [0-9]+" \
	    "a disk that is full in the middle of a document"
else
	skip "a disk that is full in the middle of a document" "needs root"
fi
(ulimit -f 1; trap '' XFSZ; "$B" run --judge "$work/v/runs.sh" --answer \
    "$work/a/long.py" --json --keep-output 64k >"$work/out" 2>/dev/null
echo $? >"$work/st")
is "$(cat "$work/st")" 3 "a limit of file size in the middle of a document"

# A pipe that nobody reads: longer than the pipe holds.  The reader comes late.
{ "$B" run --judge "$work/v/runs.sh" --answer "$work/a/long.py" --json \
    --keep-output 128k 2>"$work/err"; echo $? >"$work/st"; } |
    { sleep 1.5; cat >"$work/out"; }
is "$(cat "$work/st") $(ask 'd["verdict"]')" "1 failed" \
    "a pipe that is read late: all of it, and then the status"
{ "$B" run --judge "$work/v/runs.sh" --answer "$work/a/long.py" --json \
    --keep-output 128k 2>"$work/err"; echo $? >"$work/st"; } | sleep 1.5
is "$(cat "$work/st")" 3 "a pipe that nobody reads and that closes"
mkfifo "$work/fifo"
sleep 30 <>"$work/fifo" &
holder=$!
timeout -k 1 3 "$B" run --judge "$work/v/runs.sh" --answer "$work/a/long.py" \
    --json --keep-output 128k >"$work/fifo" 2>"$work/err"
st=$?
kill $holder
[ $st != 0 ] && [ $st != 1 ]
ok $? "a pipe that nobody ever reads: no verdict's status ($st)"

# Other places where it tells.
"${full[@]}" "$work/a/right.py" --status-fd 5 --json 5>/dev/full \
    >"$work/out" 2>"$work/err"
is $? 3 "--status-fd to a full device"
"$B" exec --status-fd 5 -- true 5>/dev/full 2>"$work/err"
is $? 125 "exec --status-fd to a full device"
"$B" exec --json -- true >/dev/full 2>"$work/err"
is $? 125 "exec --json to a full device"
"$B" exec --meta /dev/full -- true 2>"$work/err"
is $? 125 "exec --meta to a full device"
"$B" exec -- echo hello >/dev/full 2>"$work/err"
like $? "125|141" "exec to a full device"
mkfifo "$work/pipe" && ln -s /dev/full "$work/link"
for to in pipe link; do
	"$B" exec --get f:"$work/$to" -- sh -c 'echo x >f' 2>"$work/err"
	is $? 125 "exec --get to a name that is no plain file: a $to"
	[ -p "$work/$to" ] || [ -L "$work/$to" ]
	ok $? "and the $to is still what it was"
done
"$B" exec --get f:"$work/none/f" -- sh -c 'echo x >f' 2>"$work/err"
is $? 125 "exec --get to a folder that is not there"
"$B" exec --status-fd 5 -- true 5>"$work/o" 2>"$work/err"
is $? 0 "control: with room it is told"
done_testing
