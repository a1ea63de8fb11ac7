#!/bin/bash
# E09. The wrong copy of the helper: it looks at what it is before it looks at
# what it was asked, says which, and stops.
. selftest/payload/setuid.sh

with() {	# HELPER WORD...: bailiff exec by alice, started by these words
	local h=$1
	shift
	setpriv --reuid=$ALICE --regid=$ALICE --groups=$GROUP "$@" env -i \
	    PATH=/usr/bin:/bin BAILIFF_HELPER="$h" HOME=/ XDG_CONFIG_HOME=/none \
	    "$C" exec --json -- sh -c 'exit 7' >"$work/out" 2>"$work/err" \
	    </dev/null
	st=$?
}
not_root='125 helper_not_root helper/root'
unsound='125 helper_file_unsound helper/own file'
refused() {	# WANT NAME
	is "$(why)" "$1" "$2"
}
copy() {	# MODE OWNER: $S/copy
	rm -f "$S/copy"
	install -m "$1" "$BUILD/bailiff-helper" "$S/copy"
	chown "$2" "$S/copy" && chmod "$1" "$S/copy"
}
with "$H"
is $st 7 "control: the right one"
with "$BUILD/bailiff-helper"
printf '#!/bin/sh\n' >"$S/text"
code=$(ask 'd["error"]["code"]')
like "$st $code" '125 (helper_not_root|helper_start|helper_missing)' \
    "the one in the build folder, which is nobody's"
copy 0755 0:0
with "$S/copy"
refused "$not_root" "without the set-user-id bit"

# --- names -----------------------------------------------------------------

ln -s "$H" "$S/link"
with "$S/link"
is $st 7 "by a link, which it can't know: a normal run"
ln "$H" "$S/second"
with "$S/second"
refused "$unsound" "by a second name of the same file"
with "$H"
refused "$unsound" "by its first name, while it has two"
rm "$S/second"
with "$H"
is $st 7 "and when the second one is gone: a normal run"

# --- mounts and flags ------------------------------------------------------

mkdir "$S/nosuid"
mount -t tmpfs -o nosuid,mode=0755 tmpfs "$S/nosuid"
install -o root -g $GROUP -m 4750 "$BUILD/bailiff-helper" "$S/nosuid/h"
with "$S/nosuid/h"
refused "$not_root" "on a disk that is mounted nosuid"
mount -o remount,suid "$S/nosuid"
with "$S/nosuid/h"
is $st 7 "control: on the same disk, without nosuid"
mount -o remount,noexec "$S/nosuid"
with "$S/nosuid/h"
like "$(why)" '125 helper_start helper/exec' "on a disk that is mounted noexec"
umount "$S/nosuid"
with "$H" --no-new-privs
refused "$not_root" "no_new_privs is set"
if as $ALICE unshare -Ur true 2>/dev/null; then
	with "$H" unshare -Ur
	like "$(why)" '125 [a-z_]* helper/[a-z]*' \
	    "in a user namespace of alice's: refused"
	grep -q '"exit_code":7' "$work/out"
	[ $? = 1 ]
	ok $? "and nothing was run"
	with "$H" unshare -Urm
	like "$(why)" '125 [a-z_]* helper/[a-z]*' "with its own mounts: refused"
	# With a root folder of its own, everything in it belongs to "root".
	with "$H" unshare -Urm sh -c 'mount -t tmpfs t /mnt && mkdir -p \
	    /mnt/etc/bailiff /mnt/run /mnt/old && chmod 700 /mnt/run &&
	    mount --bind /mnt/etc /etc && mount --bind /mnt/run /run &&
	    exec "$@"' sh
	like "$(why)" '125 [a-z_]* helper/[a-z]*' \
	    "with an /etc and a /run that are its own: refused"
	unshare -Ur env BAILIFF_HELPER="$H" "$C" exec --json -- sh -c 'exit 7' \
	    >"$work/out" 2>"$work/err" </dev/null
	st=$?
	like "$(why)" '125 [a-z_]* helper/[a-z]*' \
	    "in a user namespace of root's: refused"
else
	skip "in a user namespace" "none can be made here"
fi

# The set-user-id way needs no user namespaces, and works where they are off.
knob=/proc/sys/user/max_user_namespaces
if was=$(cat $knob 2>/dev/null) && [ -w $knob ] && [ "$was" != 0 ]; then
	trap 'echo "$was" >$knob' EXIT
	trap 'exit 1' HUP INT TERM
	echo 0 >$knob
	as $ALICE unshare -Ur true 2>/dev/null
	off=$?
	with "$H"
	echo "$was" >$knob
	trap - EXIT HUP INT TERM
	[ $off != 0 ]
	ok $? "control: user namespaces were off"
	is $st 7 "with user namespaces off: a normal run"
	is "$(cat $knob)" "$was" "they are on again"
else
	skip "with user namespaces off" "they can't be switched here"
fi
if strace -o /dev/null true 2>/dev/null; then
	strace -f -qq -o "$work/trace" -e trace=clone,clone3,unshare,setns \
	    setpriv --reuid=$ALICE --regid=$ALICE --groups=$GROUP env -i \
	    BAILIFF_HELPER="$H" "$C" exec -- sh -c 'exit 7' </dev/null \
	    >"$work/out" 2>"$work/err"
	is "$? $(grep -c CLONE_NEWUSER "$work/trace")" "7 0" \
	    "a normal run, traced: it asks for no user namespace"
	grep -q CLONE_NEWPID "$work/trace"
	ok $? "control: and for others it does"
else
	skip "it asks for no user namespace" "strace can't be used"
fi

# --- capabilities ----------------------------------------------------------

caps="setuid setgid kill sys_admin net_admin mknod chown setpcap"
lacking="($not_root|125 helper_restricted helper/capability)"
some() {	# CAPABILITY...: $S/copy with these in its file
	local list
	list=$(printf ',cap_%s' "$@")
	copy 0755 0:0
	setcap "${list#,}=ep" "$S/copy"
}
sealed() {	# HELPER: what it has while a command runs in its cell
	local client helper init
	setpriv --reuid=$ALICE --regid=$ALICE --groups=$GROUP env -i \
	    PATH=/usr/bin:/bin BAILIFF_HELPER="$1" HOME=/ \
	    XDG_CONFIG_HOME=/none "$C" exec -- sleep 30 >/dev/null 2>&1 \
	    </dev/null &
	client=$!
	for _ in $(seq 500); do
		helper=$(pgrep -P $client | head -n 1)
		init=$(pgrep -P "${helper:-0}" | head -n 1)
		pgrep -P "${init:-0}" -x sleep >/dev/null && break
		sleep 0.02
	done
	awk '/^Cap/ { printf "%s%s ", $1, $2 }' "/proc/${helper:-0}/status"
	kill $client
	wait $client 2>/dev/null
}
if some setuid 2>/dev/null; then
	bad=
	for cap in $caps; do
		some "$cap"
		with "$S/copy"
		[[ "$(why)" =~ ^$lacking$ ]] || bad+=" $cap:$(why)"
	done
	is "$bad" "" "with one of its capabilities in its file, each: refused"
	some setuid setgid kill sys_admin net_admin
	with "$S/copy"
	refused "125 helper_restricted helper/capability" "with half of them"
	is "$(ask 'd["error"]["object"]')" "capability CAP_MKNOD" \
	    "and it says which one is missing first"
	bad=
	for cap in $caps; do
		# shellcheck disable=SC2086
		some ${caps/$cap/}
		with "$S/copy"
		[[ "$(why)" =~ ^$lacking$ ]] || bad+=" $cap:$(why)"
	done
	is "$bad" "" "with one less, each: refused"
	# shellcheck disable=SC2086
	some $caps
	with "$S/copy"
	is "$st $(ask 'd["way"]')" "7 capabilities" "with all of them: a run"
	# More than it needs is no reason to refuse: set-user-id root has them all
	# too, and by either way it keeps what it needs and no more.
	rights=$(sealed "$H")
	like "$rights" '.*CapPrm:([0-9a-f]+) CapEff:.* CapBnd:[0-9a-f]+ CapAmb:0+ $' \
	    "control: what it keeps by its set-user-id bit"
	bound=$(awk '/^CapBnd/ { print $2 }' /proc/self/status)
	setcap "$(capsh --decode="$bound" | cut -d= -f2)=eip" "$S/copy"
	is "$(sealed "$S/copy")" "$rights" \
	    "with every one that this machine has: it keeps no more"
	setcap all=eip "$S/copy"
	with "$S/copy"
	if [ "$st" = 7 ]; then
		is "$(sealed "$S/copy")" "$rights" \
		    "with every one there is: it keeps no more"
	else			# the kernel's own refusal: some can't be given
		like "$(why)" '^125 helper_start helper/exec$' \
		    "with every one there is"
	fi
else
	skip "with some of its capabilities in its file" "setcap doesn't work here"
fi
bad=
for cap in $caps; do
	with "$H" --bounding-set=-"$cap"
	[[ "$(why)" =~ ^125\ [a-z_]+\ helper/[a-z]+$ ]] ||
	    bad+=" $cap:$(why)"
	setpriv --bounding-set=-"$cap" env BAILIFF_HELPER="$H" "$C" exec --json \
	    -- sh -c 'exit 7' >"$work/out" 2>"$work/err" </dev/null
	st=$?
	[[ "$(why)" =~ ^125\ [a-z_]+\ helper/[a-z]+$ ]] ||
	    bad+=" root-$cap:$(why)"
done
is "$bad" "" "without one of them, each, as alice and as root: refused"
with "$H" --bounding-set=-sys_admin
is "$(why) $(ask 'd["error"]["object"]')" \
    "125 helper_restricted helper/capability capability CAP_SYS_ADMIN" "it says which one"
with "$H" --securebits=+noroot,+noroot_locked
like "$(why)" '125 [a-z_]* helper/[a-z]*' \
    "where root is nothing by itself: refused"
with "$H" --securebits=+no_setuid_fixup,+no_setuid_fixup_locked
like "$st" '125|7' "where a change of user changes no capabilities"
[ $st = 125 ] || [ "$(ask 'd["protections"]["uid"]')" = True ]
ok $? "then they are not the program's either"
with "$H" --inh-caps=+sys_admin,+setuid --ambient-caps=+sys_admin,+setuid \
    --bounding-set=+all
like "$st" '125|7' "alice has capabilities of her own"
[ $st = 125 ] || [ "$(ask 'd["protections"]["uid"]')" = True ]
ok $? "then they are not the program's either"

# --- owners and modes ------------------------------------------------------

copy 4755 $ALICE:$ALICE
with "$S/copy"
refused "$not_root" "alice's own"
copy 4755 $BOB:0
with "$S/copy"
refused "$not_root" "bob's"
copy 4755 65534:65534
with "$S/copy"
refused "$not_root" "nobody's"
for mode in 4770 4775 4757 4777 4722; do
	copy $mode 0:$GROUP
	chmod u+x,g+x "$S/copy"
	with "$S/copy"
	refused "$unsound" "root's, mode $mode"
done
copy 2755 0:$GROUP
with "$S/copy"
refused "$not_root" "set-group-id alone"
copy 2755 0:0
with "$S/copy"
refused "$not_root" "set-group-id of root's group"
copy 6755 0:$GROUP
with "$S/copy"
is $st 7 "set-group-id as well: a normal run"
copy 4555 0:0
with "$S/copy"
is $st 7 "that root can't write either: a normal run"
copy 4711 0:0
with "$S/copy"
is $st 7 "that nobody can read: a normal run"
copy 4755 0:0
if setfacl -m "u:$ALICE:rwx" "$S/copy" 2>/dev/null; then
	with "$S/copy"
	refused "$unsound" "an access list lets alice write"
else
	skip "an access list lets alice write" "no setfacl"
fi
copy 0755 $ALICE:0
env BAILIFF_HELPER="$S/copy" "$C" exec --json -- sh -c 'exit 7' \
    >"$work/out" 2>"$work/err" </dev/null
st=$?
refused "$unsound" "root runs one that is alice's"
copy 0777 0:0
env BAILIFF_HELPER="$S/copy" "$C" exec --json -- sh -c 'exit 7' \
    >"$work/out" 2>"$work/err" </dev/null
st=$?
refused "$unsound" "root runs one that everybody can write"

# --- what it stands on -----------------------------------------------------

apart() {	# COMMAND...: with mounts of its own, then as with
	local before=$1
	shift
	unshare -m --propagation private sh -c "$before"'; exec "$@"' sh \
	    setpriv --reuid=$ALICE --regid=$ALICE --groups=$GROUP env -i \
	    BAILIFF_HELPER="$H" HOME=/ XDG_CONFIG_HOME=/none "$C" exec \
	    --json -- sh -c 'exit 7' >"$work/out" 2>"$work/err" </dev/zero
	st=$?
}
apart 'mount -t tmpfs t /proc'
like "$(why)" '125 [a-z_]* helper/[a-z ]*' "there is no /proc: refused"
mknod -m 666 "$S/zero" c 1 5
: >"$S/file"
mkfifo "$S/pipe"
chmod 666 "$S/file" "$S/pipe"
for other in zero file pipe; do
	apart "mount --bind $S/$other /dev/null"
	[ "$st" = 125 ] && [ ! -s "$S/file" ]
	ok $? "the null device is a $other: refused"
done
apart "mount -t tmpfs t /dev"
is "$st" 125 "there is no null device: refused"
for other in /bin/true /bin/false /bin/cat "$S" /none "$S/text" /dev/null; do
	with "$other"
	is "$st" 125 "the helper is ${other/$S/a file}: refused"
done
nothing_left "nothing is left"
done_testing
