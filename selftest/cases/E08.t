#!/bin/bash
# E08. Touched while it works: at every step of the helper, of cell init and of
# what becomes a program, the caller can do nothing to it, or nothing with it.
. selftest/payload/setuid.sh

hostile E08
nothing_left "nothing is left of it"

# At any moment: a user attacks, stops and ends whatever looks like a helper of
# hers.  Not alice: she has other tests that may be running.
MALLORY=2468
rules <<END
caller $ALICE slots 64 memory 8g pids 4096 disk 4g fsize 4g wall 1h
caller $MALLORY slots 64 memory 8g pids 4096 disk 4g fsize 4g wall 1h
END
runs() {	# NAME: of 40 runs
	local i st bad=
	good=0
	for i in {1..40}; do
		# 30 s, where she stops it as it becomes root
		as $MALLORY timeout -k 1 60 "$C" exec --json -- sh -c 'exit 7' \
		    >"$work/out" 2>"$work/err" </dev/null
		st=$?
		case $st in
		7)	good=$((good + 1)) ;;
		125)	grep -q '"exit_code":null' "$work/out" || bad+=" $i" ;;
		*)	bad+=" $i:$st" ;;
		esac
	done
	is "$bad" "" "$1: the right status ($good of 40), or none"
}
cp "$BUILD/hostile" "$S/hostile"
"$S/hostile" "$H" $MALLORY $GROUP pest >/dev/null 2>&1 &
pest=$!
runs "under attack by the caller"
kill $pest
wait $pest 2>/dev/null
nothing_left "nothing is left of it"
runs "control: in peace"
is $good 40 "control: all of them"

# A run that goes on: what alice may not do to any part of it.
begin $ALICE "$C" exec -- sleep 30 </dev/null >/dev/null 2>&1 &
client=$!
child() {	# PID: its last child
	pgrep -P "${1:-0}" | tail -n 1
}
for i in {1..100}; do
	helper=$(child $client)
	init=$(child "$helper")
	program=$(child "$init")
	[ -n "$program" ] && [ "$(cat "/proc/$program/comm")" = sleep ] && break
	sleep 0.05
done
parts=("$helper" "$init" "$program")
bad=
for pid in "${parts[@]}"; do
	for signal in 0 TERM KILL STOP CONT HUP INT USR1; do
		as $ALICE kill -$signal "$pid" 2>/dev/null && bad+=" $signal:$pid"
	done
	for f in environ mem maps auxv stack syscall io fd/0 cwd/. root/. \
	    map_files task/$pid/mem ns/mnt personality pagemap; do
		as $ALICE test -r "/proc/$pid/$f" && as $ALICE \
		    head -c 1 "/proc/$pid/$f" >/dev/null 2>&1 && bad+=" $f:$pid"
	done
	as $ALICE timeout 0.5 strace -qq -p "$pid" -o /dev/null >/dev/null 2>&1
	[ $? = 124 ] && bad+=" strace:$pid"
	as $ALICE prlimit --pid "$pid" --nofile=1 2>/dev/null && bad+=" limit:$pid"
	as $ALICE renice -n 19 -p "$pid" >/dev/null 2>&1 && bad+=" nice:$pid"
	as $ALICE nsenter -t "$pid" -a true 2>/dev/null && bad+=" enter:$pid"
done
is "$bad" "" "signals, files of /proc, tracing, limits on ${#parts[@]} parts of \
a run: none"
as $ALICE kill -0 $client
ok $? "control: her client is hers"
as $ALICE kill -KILL $client
{ wait $client; } 2>/dev/null
nothing_left "she ends it: so ends all of it"
done_testing
