#!/bin/bash
# F06. Who is on the other end: rights come from what the kernel knew when the
# helper was started, whoever holds the socket, and end with it.
. selftest/payload/setuid.sh

known 'then the client ends: so does the helper' 'a copy of the session socket that was given away keeps the session'

hostile F06
nothing_left "nothing is left of them"

# How many cells a caller has at once is counted over all of its sessions, and
# nobody's cells have another's user numbers.
rules <<END
caller 0 slots 8 memory 8g pids 4096 disk 4g fsize 4g wall 1h
caller $ALICE slots 2 memory 8g pids 4096 disk 4g fsize 4g wall 1h
caller $BOB slots 2 memory 8g pids 4096 disk 4g fsize 4g wall 1h
END
hostile slots
begin $ALICE "$C" exec -- sleep 3 </dev/null &
begin $ALICE "$C" exec -- sleep 3 </dev/null &
for i in {1..40}; do
	[ "$(pgrep -U $((BASE + 8)),$((BASE + 9)) -x sleep | wc -l)" = 2 ] &&
	    break
	sleep 0.05
done
cell -- true
is "$(why)" "125 slots_busy cell/slot" \
    "a caller whose cells are all in use: refused, in clear words"
as $BOB "$C" exec -- true </dev/null
is $? 0 "another caller is not"
wait
cell -- true
is $st 0 "and then it may again"
nothing_left "nothing is left"
done_testing
