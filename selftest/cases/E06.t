#!/bin/bash
# E06. Who may call, and as whom: what the rules name and nobody else; numbers
# are whole, in range, checked as they were written.
. selftest/payload/setuid.sh

limits='memory 8g pids 4096 disk 4g fsize 4g wall 1h'
by() {		# UID [GROUPS]: bailiff exec, as why() or its status
	local groups=${2-$GROUP} st
	setpriv --reuid="$1" --regid="$1" --groups="$groups" env -i \
	    PATH=/usr/bin:/bin BAILIFF_HELPER="$H" HOME=/ XDG_CONFIG_HOME=/none \
	    "$C" exec --json -- id -u >"$work/out" 2>"$work/err" </dev/null
	st=$?
	if [ $st = 0 ]; then
		ask 'd["stdout"].strip()'
	else
		why
	fi
}
denied='125 caller_not_allowed helper/caller'

# --- callers ---------------------------------------------------------------

rules <<END
caller 2000-2003 slots 2 $limits
caller $ALICE slots 4 $limits
END
is "$(by $ALICE)" $BASE "control: a caller that is named has its own cell"
is "$(by 2000)" $((BASE + 4)) "the first of a range"
is "$(by 2003)" $((BASE + 10)) "the last of a range"
bad=
for uid in 1 $((ALICE - 1)) $((ALICE + 1)) 1999 2004 65534 65535 65536 \
    $((ALICE + 65536)) $((ALICE + 131072)) 2147483647 2147483648 4294967294 \
    $BASE $((BASE + 4)) $((BASE + COUNT)); do
	got=$(by $uid)
	[[ $got == *caller_not_allowed* ]] || bad+=" $uid:$got"
done
is "$bad" "" "16 others, cells' own numbers too: not allowed" "$work/out"
is "$(by 0)" "$denied" "root, when the rules don't name it"
chmod 4755 "$H"
is "$(by 3000 3000)" "$denied" "a caller that is not named, with the right to \
start the helper"
chmod 4750 "$H"
is "$(by $ALICE 3000)" "125 helper_start helper/exec" \
    "a caller that is named, without that right"

# --- groups ----------------------------------------------------------------

rules <<END
group 777777
group 888888
caller $ALICE slots 4 $limits
caller 0 slots 4 $limits
END
is "$(by $ALICE)" "$denied" "a group is wanted: not a member"
is "$(by $ALICE $GROUP,777777)" $((BASE + 4)) "a member of one"
is "$(by $ALICE 1,$GROUP,888888)" $((BASE + 4)) "a member of the other"
is "$(by $ALICE $GROUP,777776)" "$denied" "a member of a neighbour"
is "$(by $ALICE $GROUP,$((888888 + 65536)))" "$denied" \
    "a member of one with the same low half"
is "$(by $ALICE "$GROUP,$(seq -s, 100000 100200)")" "$denied" \
    "a member of 200 others"
is "$(by $ALICE "$GROUP,$(seq -s, 100000 100200),777777")" $((BASE + 4)) \
    "and of the right one"
is "$(by 0 $GROUP)" "$denied" "root is no exception"
is "$(by 0 $GROUP,888888)" $BASE "root as a member"
is "$(as $ALICE "$C" exec -- id -G </dev/null 2>/dev/null)" "" \
    "nobody is let in without, whatever the helper's own group"

# --- numbers ---------------------------------------------------------------

# A machine with users of its own, some of them called like numbers.
mkdir "$work/etc"
cat >"$work/etc/passwd" <<END
root:x:0:0::/:/bin/sh
4242:x:77:77::/:/bin/sh
nobody:x:65534:65534::/:/bin/sh
END
cp "$work/etc/passwd" "$work/etc/group"
refused() {	# the source is on stdin
	"$BUILD/bailiff-rules" compile --etc "$work/etc" /dev/stdin \
	    -o "$work/none" >"$work/out" 2>&1
	st=$?
	[ $st != 0 ] && [ ! -e "$work/none" ] && [ -s "$work/out" ]
}
bad= count=0
for uid in -1 +1 "" 4294967295 4294967296 4294968530 18446744073709551616 \
    99999999999999999999999999 0x10 1e3 1.0 1,2 1_000 "1 2" root 1-0 5-4 -5 5- \
    1-2-3 0-4294967295 1-4294967296 $BASE $((BASE + 5)) \
    $((BASE - 1))-$((BASE + 1)) $((BASE + COUNT - 1)) 1234- ٣ "1234x" "'1'"; do
	count=$((count + 1))
	refused <<<"uids $BASE count $COUNT
caller $uid slots 4 $limits" || bad+=" '$uid'"
done
is "$bad" "" "$count callers that are none"
bad= count=0
for line in "0 count 10" "1 count 10" "1000 count 10" "65534 count 1" \
    "65535 count 2" "-1 count 10" "4294967295 count 1" "4294967290 count 10" \
    "4294967296 count 10" "2147483648 count 1" "2147352575 count 2" \
    "100000 count 0" "100000 count -1" "100000 count 4294967295" \
    "100000 count 4294967296" "100000 count 18446744073709551616" \
    "100000 count 1e3" "0x186a0 count 10" "100000" "100000 10" "65530 count 9"
do
	count=$((count + 1))
	refused <<<"uids $line
caller 1 slots 1 $limits" || bad+=" '$line'"
done
is "$bad" "" "$count ranges for cells that are none: system users, nobody, -1, \
ends that overflow"
bad= count=0
for more in "slots 0" "slots -1" "slots 4294967296" "slots 1025" "slots x" \
    "slots 1 slots 2" "memory 0" "memory -1" "slots 1 pids 0" \
    "slots 1 pids 4294967296" "slots 1 nofile -1" "slots 1 memory 16777216t" \
    "slots 1 disk 0" "slots 1 wall 0" "slots 1 wall 1000000d" \
    "slots 1 memory 1gg" "slots 1 memory"; do
	count=$((count + 1))
	refused <<<"uids $BASE count $COUNT
caller 1 $more" || bad+=" '$more'"
done
is "$bad" "" "$count limits that are none"
bad= count=0
for group in -1 4294967295 4294967296 no-such-group "" 0x1 1e3 "1 2"; do
	count=$((count + 1))
	refused <<<"uids $BASE count $COUNT
group $group
caller 1 slots 1 $limits" || bad+=" '$group'"
done
is "$bad" "" "$count groups that are none"
"$BUILD/bailiff-rules" compile --etc "$work/etc" /dev/stdin \
    -o /etc/bailiff/rules >"$work/out" 2>&1 <<END
uids $BASE count $COUNT
caller 4242 slots 4 $limits
$(grep '^show' policy/default.policy)
END
ok $? "a caller that is all digits" "$work/out"
is "$(by 4242)" $BASE "is that number"
is "$(by 77)" "$denied" "and not the user who has that name"

# The helper looks at compiled rules again: what they were made to hold.
broken=0 count=0
usual
cp /etc/bailiff/rules "$work/sound"
for at in $(seq 12 4 60); do
	for word in '\000\000\000\000' '\377\377\377\377' '\001\000\000\200'; do
		cp "$work/sound" /etc/bailiff/rules
		printf "$word" | dd of=/etc/bailiff/rules bs=1 seek="$at" \
		    conv=notrunc status=none
		got=$(by $ALICE)
		count=$((count + 1))
		case $got in
		12[57]*) ;;		# or nothing is shown to it
		*)	[ "$got" -ge 65536 ] && [ "$got" -le 2147352575 ] &&
			    [ "$got" != $ALICE ] || broken=$((broken + 1)) ;;
		esac
	done
done
is $broken 0 "$count changes of compiled rules: refused, or a number in range"
usual
nothing_left "nothing is left"
done_testing
