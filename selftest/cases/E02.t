#!/bin/bash
# E02. Closed 0, 1, 2: as with the null device there, and nothing that is
# opened later takes their places.
. selftest/payload/setuid.sh

hostile E02

closed() {	# NUMBERS COMMAND...: the client with these closed
	local how=
	[[ $1 == *0* ]] && how+=' 0<&-'
	[[ $1 == *1* ]] && how+=' 1>&-'
	[[ $1 == *2* ]] && how+=' 2>&-'
	shift
	as $ALICE sh -c "exec \"\$@\"$how" sh "$@" </dev/null
}
bad=
for which in 0 1 2 01 02 12 012; do
	closed $which "$C" exec -- sh -c 'exit 7' >"$work/out" 2>"$work/err"
	[ $? = 7 ] || bad+=" $which"
done
is "$bad" "" "the client without some of them: a normal run"
bad=
for which in 0 1 2 01 02 12 012; do
	closed $which "$C" exec -- sh -c 'echo a; echo b >&2; cat; exit 7' \
	    >"$work/out" 2>"$work/err"
	st=$?
	[ $st = 7 ] || [ $st = 125 ] || bad+=" $which:$st"
	[[ $which == *1* ]] || [ "$(cat "$work/out")" = a ] || bad+=" $which:out"
	[[ $which == *2* ]] || grep -q '^b$' "$work/err" || bad+=" $which:err"
done
is "$bad" "" "with a program that uses them all: its status, or 125; what can \
be written is"
# Its own words have nowhere to go, so they go nowhere.
for which in 2 12 012; do
	closed $which "$C" exec --no-such -- true >"$work/out" 2>"$work/err"
	is $? 125 "$which closed, and there is something to complain of"
	closed $which "$C" exec -t 0.3 -- sleep 9 >"$work/out" 2>"$work/err"
	is $? 124 "$which closed, and a limit to tell of"
	closed $which "$C" exec --ro-bind /none:/x -- true >"$work/out" \
	    2>"$work/err"
	is $? 125 "$which closed, and a folder that is not there"
done
mkdir "$work/env" "$work/answer"
printf '#!/bin/sh\n"$BAILIFF_ANSWER" -- sh solution.sh <&- >&- 2>&-
echo "{\\"score\\": 1, \\"passed\\": true}"\n' >"$work/env/verifier"
echo 'echo x; exit 0' >"$work/answer/solution.sh"
chmod 755 "$work/env/verifier"
bad=
for which in 0 2 02; do
	closed $which "$C" run --judge "$work/env/verifier" \
	    --answer "$work/answer/solution.sh" >"$work/out" 2>"$work/err"
	[ $? = 0 ] || bad+=" $which"
done
is "$bad" "" "a judged run without them: a verdict"
nothing_left "nothing is left"
done_testing
