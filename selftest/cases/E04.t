#!/bin/bash
# E04. Inherited limits: set afresh, or refused before anything is started.
# Met half-way they are no verdict, and leave nothing.
. selftest/payload/setuid.sh

known 'first in line for the memory killer' 'inherited: a run that is killed for it is no verdict'

hostile E04
nothing_left "nothing is left of them"

# The client keeps its limits; what becomes of it is its own end or 125.
under() {	# NAME PRLIMIT-OPTION...
	local name=$1
	shift
	as $ALICE prlimit "$@" "$C" exec -- sh -c 'exit 7' >"$work/out" \
	    2>"$work/err" </dev/null
	like $? '7|125|139|153' "the client: $name" "$work/err"
}
under "file size 0" --fsize=0
under "4 open files" --nofile=4:
under "no processes" --nproc=0
under "a second of processor time" --cpu=1
under "64 KiB of stack" --stack=65536
under "cores" --core=unlimited
under "64 MiB of address space" --as=67108864
under "no locked memory" --memlock=0
under "no waiting signals" --sigpending=0
under "nice 19" --nice=0 --rtprio=0
bad=
for files in {5..40}; do
	as $ALICE prlimit --nofile=$files: "$C" exec --json -- sh -c 'exit 7' \
	    >"$work/out" 2>"$work/err" </dev/null
	st=$?
	case $st in
	7)	;;
	125)	[ -s "$work/out" ] || [ -s "$work/err" ] || bad+=" $files:" ;;
	*)	bad+=" $files:$st" ;;
	esac
done
is "$bad" "" "the client with 5 to 40 open files: the right status, or 125 and \
a word"
nothing_left "nothing is left of them"
printf '#!/bin/sh\n"$BAILIFF_ANSWER" -- true || exit 2
echo "{\\"score\\": 0.5, \\"passed\\": true}"\n' >"$work/verifier"
echo x >"$work/answer.sh"
bad= verdicts=0
for files in 5 {7..46..3}; do
	as $ALICE prlimit --nofile=$files: "$C" run --json --judge \
	    "$work/verifier" --answer "$work/answer.sh" >"$work/out" \
	    2>"$work/err" </dev/null
	st=$?
	if [ $st = 0 ] && [ "$(ask 'd["score"]')" = 0.5 ]; then
		verdicts=$((verdicts + 1))
	elif [ $st = 3 ] && ! grep -q '"score"' "$work/out"; then
		:
	else
		bad+=" $files:$st"
	fi
done
is "$bad" "" "a judged run with 5 to 46: a whole verdict, or none"
[ $verdicts -gt 0 ]
ok $? "control: $verdicts of them had a verdict"
nothing_left "nothing is left of them"
bad=
for kib in 0 1 2 4 8 16 32 64; do
	as $ALICE prlimit --fsize=$((kib * 1024)) "$C" run --json --judge \
	    "$work/verifier" --answer "$work/answer.sh" >"$work/out" \
	    2>"$work/err" </dev/null
	st=$?
	[ $st = 0 ] || ! grep -q '"score"' "$work/out" || bad+=" $kib:$st"
done
is "$bad" "" "a judged run with files of 0 to 64 KiB: a verdict, or none"
nothing_left "nothing is left of them"
done_testing
