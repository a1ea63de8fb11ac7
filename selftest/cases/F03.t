#!/bin/bash
# F03. Descriptors lost on the way: whoever has no room for them says so, and
# never goes on with a message as if it had brought none.
. selftest/payload/setuid.sh

hostile F03
nothing_left "nothing is left of them"

# The client, too, is given descriptors: two with each cell, one with each
# listener.  It has its limit at every number in turn.
printf '#!/bin/sh\n"$BAILIFF_ANSWER" -- true && '\
'echo "{\\"score\\": 0.5, \\"passed\\": true}"\n' >"$work/verifier"
chmod 755 "$work/verifier"
echo x >"$work/answer.sh"
bad= good=0 none=0
for files in {6..34}; do
	as $ALICE prlimit --nofile=$files: "$C" run --json --judge \
	    "$work/verifier" --answer "$work/answer.sh" >"$work/out" \
	    2>"$work/err" </dev/null
	st=$?
	if [ $st = 0 ] && grep -q '"score":0.5' "$work/out"; then
		good=$((good + 1))
	elif [ $st = 3 ] && ! grep -q '"score"' "$work/out"; then
		none=$((none + 1))
	else
		bad+=" $files:$st"
	fi
done
is "$bad" "" "the client with 6 to 34: a verdict ($good) or none ($none)"
[ $good -gt 0 ] && [ $none -gt 0 ]
ok $? "control: both happened"
nothing_left "nothing is left of them"
done_testing
