#!/bin/bash
# bailiff selftest by an ordinary user of an installed helper: what it can tell,
# what it leaves when it is killed, and how long it takes.
. selftest/payload/setuid.sh

# Nobody else's number: all that runs by it is of this test.
ALICE=$((20000 + $$ % 10000))
usual || exit 1

selftest() {	# as $ALICE, with options
	as $ALICE "$C" selftest "$@" >"$work/out" 2>"$work/err" </dev/null
	st=$?
}

# What a party makes outside of its process: files, System V objects, queues.
made() {
	ls -d /tmp/bailiff-selftest.* 2>/dev/null
	awk -v u=$ALICE 'FNR > 1 && $0 ~ "(^| )" u "( |$)" { print FILENAME, $0 }' \
	    /proc/sysvipc/*
	pgrep -u $ALICE -l
}
nothing_made() {	# NAME
	local i
	for i in {1..80}; do
		made >"$work/made"
		[ -s "$work/made" ] || break
		sleep 0.1
	done
	[ ! -s "$work/made" ]
	ok $? "$1" "$work/made"
}

from=$(date +%s%N)
selftest --json
took=$((($(date +%s%N) - from) / 1000000))
is "$st $(ask '(d["way"], d["failed"], d["absent"])')" "0 ('setuid', 0, 0)" \
    "an ordinary user: nothing failed"
[ $took -lt 15000 ]
ok $? "it took $took ms"
# all that is not known, for want of a control
is "$(ask '[w["name"] for w in d["walls"] if w["status"] == "unknown"]')" \
    "[]" "and all is known"
nothing_made "nothing is left outside"
nothing_left "nor of its cells"

# Killed at any time: the party takes its things away, the helper its cells.
for ms in 5 50 150 300 450 600 800; do
	begin $ALICE "$C" selftest >"$work/out" 2>&1 </dev/null &
	pid=$!
	sleep "0.$(printf %03d $ms)"
	kill -KILL $pid 2>/dev/null
	wait $pid 2>/dev/null
	nothing_made "SIGKILL after $ms ms: nothing is left outside"
	nothing_left "nor of its cells"
done

# A helper that can't gain rights: no sandbox.
as $ALICE setpriv --no-new-privs "$C" selftest >"$work/out" 2>"$work/err"
is "$? $(cat "$work/out")" "3 " "under no_new_privs: no sandbox, status 3"
done_testing
