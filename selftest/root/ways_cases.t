#!/bin/bash
# Group C (what a cell can't do) by every way in, as an ordinary user: each case
# must say the same as with root's cells.  Groups E and F, about the helper, by
# file capabilities as well.  What a way doesn't give by design is in the table
# below, by the name of the check, and nothing else may fail.
. selftest/payload/setuid.sh

case $BUILD in
*san|*cov) echo "1..0 # SKIP only a release build is installed"; exit 0 ;;
esac

cp /etc/passwd /etc/group "$work" && cp "$work/passwd" "$work/group" /etc
printf 'alice:x:%d:%d::/:/bin/sh\n' $ALICE $ALICE >>/etc/passwd
printf 'alice:x:%d:\nbailiff:x:%d:\n' $ALICE $GROUP >>/etc/group
echo "alice:$((BASE + 2000)):65536" >/etc/subuid
cp /etc/subuid /etc/subgid
install -d -o $ALICE -m 700 "$work/runtime"

# The sources and the build, where this user can read them.
mkdir "$S/src" "$S/src/build" && cp -r selftest policy helper client providers \
    Makefile "$S/src" 2>"$work/err" && cp -r "$BUILD" "$S/src/build/x" &&
    rm -f "$S/src/build/x/bailiff-helper" && chmod -R a+rX "$S/src"
ok $? "a copy of the sources" "$work/err"
install -m 755 "$BUILD/bailiff-helper" "$S/src/build/x/bailiff-helper"
sock=/run/bailiff.sock
install -o root -m 0755 "$BUILD/bailiff-helper" "$S/plain"

by_design() {	# WAY CASE NAME: 0 when that check can't hold there
	case $1/$2/$3 in
	# until it is root a helper with capabilities is the caller's process: he
	# may lower a limit, which it then sets again or names
	capabilities/E08/*"nothing but a signal and its turn") ;;
	# execve(2) refuses what the bounding set lacks, before the helper can say
	capabilities/E09/"it says which one") ;;
	# SECBIT_NOROOT takes nothing from a file's capabilities: it is a run
	capabilities/E09/"where root is nothing by itself: refused") ;;
	# no node can be made in a user namespace: the host's own serve, by binds
	rootless/C03/"and no device but these"|bwrap/C03/"and no device but these") ;;
	rootless/C04/"what can be written is the cell's own") ;;
	bwrap/C04/"what can be written is the cell's own") ;;
	# the case gives the client an XDG_RUNTIME_DIR that is not there
	rootless/C03/"none is named in its environment") ;;
	# a number that is not mapped is not even looked at: EINVAL, not EPERM
	rootless/C08/set*": 1") ;;
	# the kernel counts these by the one user whose namespace all cells are in
	rootless/C06/"the other has used up all: queue") ;;
	rootless/C06/"the other has used up all: inotify") ;;
	# one of /proc's files is not covered
	bwrap/C04/"changing what is shown, in 18 ways") ;;
	# init has the role's own user, and so is a process that it sees
	bwrap/C05/"left by"*": processes") ;;
	# one user for all cells; the case then leaves out what hits its own
	bwrap/C06/"user numbers"|bwrap/C06/"signals to everybody") ;;
	bwrap/C06/"control: "*) ;;
	# bwrap's namespace shows the caller's groups, as nobody's, and denies
	# setgroups; the one number that is mapped is its own
	bwrap/C08/"no further groups"|bwrap/C08/"the same by id") ;;
	bwrap/C08/set*": "*) ;;
	*)	return 1 ;;
	esac
}

# What one case has said, into the caller's sums.
tally() {	# WAY CASE
	local line
	while IFS= read -r line; do
		case $line in
		"ok "*SKIP*)	skipped=$((skipped + 1)) ;;
		"ok "*)		count=$((count + 1)) ;;
		"not ok "*"# T"?DO*) ;;
		"not ok "*)
			if by_design "$1" "$2" "${line#* - }"; then
				design=$((design + 1))
			else
				bad=$((bad + 1))
				echo "# $1 $2: $line" >&2
			fi ;;
		1..0*)	bad=$((bad + 1)); echo "# $1 $2: $line" >&2 ;;
		esac
	done <"$work/case"
	grep -q '^1\.\.[1-9]' "$work/case" || {
		bad=$((bad + 1))
		echo "# $1 $2: did not come to its end" >&2
		tail -n 3 "$work/case" | sed 's/^/# /' >&2
	}
}

group() {	# WAY HELPER
	local way=$1 h=$2 t name count=0 bad=0 skipped=0 design=0
	for t in selftest/cases/C*.t; do
		name=$(basename "$t" .t)
		(cd "$S/src" && timeout 300 setpriv --reuid=$ALICE --regid=$ALICE \
		    --groups=$GROUP env -i PATH=/usr/local/bin:/usr/bin:/bin \
		    HOME=/ LC_ALL=C.UTF-8 BUILD=build/x BL_WAY="$way" \
		    ${h:+BAILIFF_HELPER="$h"} XDG_RUNTIME_DIR="$work/runtime" \
		    bash "$t") >"$work/case" 2>&1 </dev/null
		tally "$way" "$name"
	done
	[ $bad = 0 ] && [ $count -gt 300 ]
	ok $? "$way: group C: $count hold, $design not there by design, $skipped \
without a control for this user"
}

helpers() {	# WAY: groups E and F, each in a place of its own
	local t count=0 bad=0 skipped=0 design=0
	for t in selftest/cases/[EF]*.t; do
		(cd "$whole" && BL_WAY=$1 timeout 500 bash "$t") \
		    >"$work/case" 2>&1 </dev/null
		tally "$1" "$(basename "$t" .t)"
	done
	[ $bad = 0 ] && [ $count -gt 300 ]
	ok $? "$1: groups E and F: $count hold, $design not there by design, \
$skipped skipped"
}

# E10, each call failing in turn, where the helper is started in another way.
machine() {	# WAY
	local count=0 bad=0 skipped=0 design=0
	(cd "$whole" && BL_WAY=$1 timeout 500 bash selftest/cases/E10.t) \
	    >"$work/case" 2>&1 </dev/null
	tally "$1" E10
	[ $bad = 0 ] && [ $count -gt 20 ]
	ok $? "$1: E10: $count hold, $skipped skipped"
}

only=${1-}
want() {
	[ -z "$only" ] || [ "$only" = "$1" ]
}
! want setuid || group setuid "$H"
if want capabilities && install -o root -g $GROUP -m 0750 \
    "$BUILD/bailiff-helper" "$S/capable" && setcap \
    cap_setuid,cap_setgid,cap_kill,cap_sys_admin,cap_net_admin,cap_mknod,cap_chown,cap_setpcap=ep \
    "$S/capable" 2>/dev/null; then
	group capabilities "$S/capable"
	helpers capabilities
elif want capabilities; then
	skip "capabilities: group C" "setcap doesn't work here"
fi
if want socket && command -v systemd-socket-activate >/dev/null; then
	systemd-socket-activate --accept --seqpacket -l $sock "$S/plain" \
	    >"$work/listen" 2>&1 &
	listener=$!
	trap 'kill $listener' EXIT
	for _ in {1..50}; do
		[ -S $sock ] && break
		sleep 0.1
	done
	chgrp $GROUP $sock && chmod 660 $sock
	group socket "$S/plain"
	machine socket
elif want socket; then
	skip "socket: group C" "there is no systemd-socket-activate"
fi
if want rootless && command -v newuidmap >/dev/null; then
	group rootless ""
	machine rootless
elif want rootless; then
	skip "rootless: group C" "there is no newuidmap"
fi
if want bwrap && command -v bwrap >/dev/null; then
	group bwrap ""
elif want bwrap; then
	skip "bwrap: group C" "there is no bwrap"
fi
nothing_left "nothing is left of all that"
done_testing
