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

# A hard limit that is not the helper's to raise must not become a score: the
# answer is right in a cell that has what was asked for, or had by default.
printf '#!/bin/sh\n"$BAILIFF_ANSWER" -- /usr/bin/python3 - <solution.py
echo "{\\"score\\": $(($? == 0)), \\"passed\\": true}"\n' >"$work/scores"
echo 'x = bytearray(200 << 20)' >"$work/m.py"
bounding=
low() {		# PRLIMIT-OPTION [OPTION...]: verdict, reason and object
	local limit=$1
	shift
	prlimit "$limit" setpriv --reuid=$ALICE --regid=$ALICE \
	    --groups=$GROUP ${bounding:+"$bounding"} env -i \
	    PATH=/usr/bin:/bin BAILIFF_HELPER="$H" XDG_CONFIG_HOME=/none \
	    HOME=/ "$C" run --json --judge "$work/scores" --answer \
	    "$work/m.py" "$@" >"$work/out" 2>"$work/err" </dev/null
	ask '[d[k] if k in d else None for k in
	    ("verdict", "score", "failure_reason")]'
}
full="['passed', 1.0, None]" none="['none', None, 'limits_too_low']"
if [ -z "${BL_WAY-}" ]; then	# execve(2) refuses capabilities without it
	bounding=--bounding-set=-sys_resource
	for limit in data=70000000 nproc=300 fsize=300000000 as=4000000000 \
	    stack=8388608 cpu=3600; do
		more="--memory 2g"
		[ $limit != cpu=3600 ] || more="--judge-timeout 7200"
		# shellcheck disable=SC2086 # two words
		is "$(low --$limit $more)" "$none" \
		    "$limit: an error, and no score"
	done
	is "$(low --data=1000000000)" "$none" "nor by a default of this program's"
	like "$(ask 'd["failure_detail"]')" '.*hard limit of data.*1000000000.*--memory.*' \
	    "which says what to do"
	is "$(low --data=1000000000 --memory 900m) $(low --nproc=300 --pids 64)" \
	    "$full $full" "a cell that gets all that it asks for: a verdict"
	is "$(low --fsize=600000000 --disk 500m)" "$full" "by --disk, too"
	is "$(low --cpu=3600 --judge-timeout 3600 --cpu-time 3599)" "$full" \
	    "and by --cpu-time"
	bounding=
fi
if [ $((16#$(awk '/^CapBnd/ { print $2 }' /proc/self/status) >> 24 & 1)) = 1 ]
then
	is "$(low --data=70000000) $(low --nproc=300) $(low --as=4000000000)" \
	    "$full $full $full" "where the helper raises it: a verdict"
else
	skip "where the helper raises it" "root has no CAP_SYS_RESOURCE here"
fi
nothing_left "nothing is left of them"
done_testing
