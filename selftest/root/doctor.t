#!/bin/bash
# bailiff doctor: each situation is made, its cause is named (one check, on one
# object) with one fix, the fix is done to the letter, and then doctor says that
# it works and a run does.
# shellcheck disable=SC2016 # Python in quotes
. selftest/payload/setuid.sh

if ! findmnt -n -t overlay /etc >/dev/null; then
	echo "1..0 # SKIP no overlay can be put over /etc here"
	exit 0
fi
helper_path=$(grep -aom1 '/[[:print:]]*/libexec/bailiff/bailiff-helper' "$C")
if [ -e "$helper_path" ] && ! mount -t tmpfs -o mode=0755 tmpfs \
    "${helper_path%/*}"; then
	echo "1..0 # SKIP a helper is installed here, and can't be hidden"
	exit 0
fi
plain=$S/plain				# a client with a helper without rights
mkdir "$plain" "$S/bin"
cp "$C" "$BUILD/bailiff-helper" "$plain/"
chmod 0755 "$plain/bailiff-helper"
cp "$BUILD/bailiff-rules" "$S/bin/"
cp -r examples/sum "$S/env"
chmod -R a+rX "$S/env"
right=$(find "$S/env/answers" -name 'right*' | sort | head -n 1)

# In this test's own /etc.
sed -i '/^alice:/d' /etc/passwd
echo "alice:x:$ALICE:$ALICE::/:/bin/sh" >>/etc/passwd
sed -i '/^bailiff:/d; /^alice:/d' /etc/group
printf '%s\n' "alice:x:$ALICE:" "bailiff:x:$GROUP:alice" >>/etc/group
: >/etc/subuid
: >/etc/subgid
policy() {	# as rules(), and the source is where an administrator has it
	rules && cp "$work/rules.src" /etc/bailiff/policy
}
policy_usual() {
	policy <<END
caller 0 slots 64 memory 8g pids 4096 disk 4g fsize 4g wall 1h
caller $ALICE slots 64 memory 8g pids 4096 disk 4g fsize 4g wall 1h
END
}
policy_usual || exit 1

# --- how it is asked -------------------------------------------------------------

inside=()		# a command around it: a container, a session
login=(--init-groups)	# as a new session does it
client=$C
helper=$H
config=/none
runtime=$S/runtime	# a session has one
install -d -o $ALICE -g $ALICE -m 0700 "$runtime"
alice() {	# COMMAND...
	${inside[@]+"${inside[@]}"} setpriv --reuid=$ALICE --regid=$ALICE \
	    "${login[@]}" env -i PATH=/usr/local/bin:/usr/bin:/bin \
	    XDG_CONFIG_HOME=$config HOME=/ ${runtime:+"XDG_RUNTIME_DIR=$runtime"} \
	    ${helper:+"BAILIFF_HELPER=$helper"} "$@" </dev/null
}
root() {
	${inside[@]+"${inside[@]}"} env -i XDG_CONFIG_HOME=/none HOME=/ \
	    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
	    "$@" </dev/null
}
who=alice
look() {	# the object in out, its status in st
	$who "$client" doctor --json >"$work/out" 2>"$work/err"
	st=$?
}
of() {		# ways|checks NAME MEMBER
	ask "[x for x in d['$1'] if x['name'] == '$2'][0]['$3']"
}

# Doctor names the check NAME on OBJECT as what is wrong, once, with one fix;
# and as the cause of the way WAY, whatever that failed with.
sick() {	# NAME OBJECT WAY TEXT
	look
	is "$(of checks "$1" status) $(of checks "$1" object)" "doesnt $2" \
	    "$4: $1, its object"
	fix=$(of checks "$1" fix)
	like "$fix" '.+' "$4: a fix"
	is "$(of ways "$3" status) $(of ways "$3" object)" "doesnt $2" \
	    "$4: the cause of $3"
	is "$(of ways "$3" fix)" "$fix" "$4: the same fix"
}

# What the fix says is done: a command of root's is run as it stands.
do_fix() {	# TEXT
	local cmd=${fix#as root: }
	if [ "${fix##*: }" = "make install)" ]; then	# what it does here
		rm -f "$helper"
		install -o root -g $GROUP -m 4750 "$BUILD/bailiff-helper" \
		    "$helper"
		ok $? "$1: done: $fix"
		return
	fi
	if [ "$cmd" = "$fix" ]; then
		ok 1 "$1: the fix is a command of root's"
		echo "# $fix"
		return
	fi
	cmd=${cmd%%; then log in again}
	PATH=$S/bin:/usr/sbin:/sbin:$PATH bash -c "$cmd" >"$work/fix" 2>&1
	ok $? "$1: done: $cmd" "$work/fix"
}

well() {	# NAME WAY TEXT
	look
	is "$st $(ask 'd["way"]') $(of ways "$2" status)" "0 $2 works" \
	    "$3: then $2 works"
	like "$(of checks "$1" status)" works "$3: and $1"
	$who "$client" run "$S/env" --answer "$right" --json >"$work/out" \
	    2>"$work/err"
	is "$? $(ask '"%s %s" % (d["verdict"], d["way"])')" "0 passed $2" \
	    "$3: a run passes"
}

# --- the user's defaults -------------------------------------------------------------

# A run obeys them, so doctor does.
defaults() {	# LINE...
	printf '%s\n' "$@" >"$config/bailiff/config"
}
as_run() {	# TEXT: doctor and a run say the same of the way
	local way code
	look
	way=$(ask 'd["way"]')
	$who "$client" run "$S/env" --answer "$right" --json >"$work/out" \
	    2>"$work/err"
	code=$?
	cp "$work/out" "$work/ran"
	if [ "$way" = None ]; then
		is "$st $((code == 3 || code == 64))" "3 1" \
		    "$1: no way, and no run"
	else
		is "$code $(ask 'd["way"]')" "0 $way" "$1: a run takes $way"
	fi
}
take_out() {	# NAME FILE: as the fix says, and then a run works
	local line
	case $fix in
	'take line '*" out of $2")
		line=${fix#take line }
		sed -i "${line%% *}d" "$2" ;;
	'take "'*"\" out of $2")
		line=${fix#take \"}
		line=${line%%\"*}
		grep -v "^${line% = ...}" "$2" >"$work/less"
		cp "$work/less" "$2" ;;
	'correct '*', or take it out of '"$2" | "take what that names out of $2")
		sed -i "2d" "$2" ;;
	*)	is "$fix" "take something out of $2" "$1: the fix" ;;
	esac
	as_run "$1: done"
	is "$(cp "$work/ran" "$work/out"; ask 'd["verdict"]')" passed \
	    "$1: fixed: $fix"
}
config=$S/config
file=$config/bailiff/config
mkdir -p "$config/bailiff"
defaults "# nothing"
as_run "defaults that say nothing"
defaults "way = setuid" "memory = 1g"
as_run "a way that works"
look
is "$(of checks config status) $(of checks config detail)" \
    "works way = setuid" "a way that works: config says so"
printf 'A=1\nexport B\n' >"$S/vars"
for line in "way = socket" "way = capabilities" "way = root" "mode = e2b" \
    "way = plain" "way = sideways" "memory = much" "no such = thing" "words" \
    "judge-mode = sideways" "judge-net = mars" "judge-timeout = never" \
    "keep-output = lots" "exit-zero = maybe" "answer = /x" "judge = /x" \
    "artifacts = /x" "expose = /nonexistent" "ro-bind = /nonexistent:/data" \
    "cells = yes" "image = x" "env-file = $S/vars"; do
	defaults "memory = 1g" "$line"
	look
	is "$(of checks config status)" doesnt "$line: doesn't work"
	like "$(of checks config object)" "$file(:2)?" "$line: the file"
	fix=$(of checks config fix)
	[[ $line != env-file* ]] || is "$fix" \
	    "correct $S/vars:2, or take it out of $file" "$line: its own line"
	is "$st $(ask 'd["way"]') $(ask '[x for x in d["ways"] if x["used"]]')" \
	    "3 None []" "$line: no way"
	as_run "$line"
	take_out "$line" "$file"
done
# What only the rules can refuse.
for line in "memory = 900g" "disk = 900g" "pids = 4000000" "tmpfs = /x:900g"; do
	defaults "$line"
	look
	is "$st $(ask 'd["way"]') $(of ways setuid status)" "3 None doesnt" \
	    "$line: no run would work"
	like "$(of ways setuid fix)" 'ask for less with .*' "$line: the fix"
	as_run "$line"
done
# Places and limits that only a run's own cells show to be none.
for line in "tmpfs = /usr" "tmpfs = /work" "tmpfs = /home" "tmpfs = /run/x" \
    "ro-bind = /proc:/x" "ro-bind = /home:/work/x" "ro-bind = /home:/etc" \
    "expose = /home" "expose = /usr" "expose = /tmp" "fsize = 1" "pids = 1" \
    "judge-timeout = 0.001"; do
	defaults "memory = 1g" "$line"
	look
	is "$st $(ask 'd["way"]') $(of ways setuid status)" "3 None doesnt" \
	    "$line: no run would work"
	like "$(of ways setuid fix)" \
	    "the destination may not .*|let $file give a run more" \
	    "$line: the fix"
	as_run "$line"
done
defaults "ro-bind = $S/env:/data" "tmpfs = /x" "pids = 20" "fsize = 16m"
as_run "places and limits that a run can have"
is "$st" 0 "places and limits that a run can have: it works"
defaults "judge-mode = shared" "judge-net = loopback" "judge-timeout = 9" \
    "keep-output = 1k" "memory = 512m" "pids = 64" "tmpfs = /x:1m" \
    "expose = $S/env" "workdir = /x"
as_run "defaults that a run can have"
is "$st" 0 "defaults that a run can have, and one that is exec's: they work"
defaults "judge-net = host" "judge-mode = shared"
as_run "defaults that exclude each other"
defaults "require = uid"
chmod 000 "$file"
look
is "$st $(of checks config fix)" "3 let $file be a file that alice can read" \
    "defaults that can't be read are not passed over"
as_run "defaults that can't be read"
chmod 644 "$file"
chmod 700 "$config"
as_run "a folder of defaults that is another's"
look
is "$st $(of checks config status) $(of checks config detail)" \
    "0 works can't be looked at; the home is another's, so there is none of \
this user's" "a folder of defaults that is another's: none"
chmod 755 "$config"
chown $ALICE "$config" && chmod 700 "$config/bailiff"
as_run "a folder of root's in a place of the user's own"
look
is "$st $(of checks config status) $(of checks config detail)" \
    "3 doesnt $file can't be read: Permission denied" \
    "a folder of root's in a place of the user's own: none"
chown 0 "$config" && chmod 755 "$config/bailiff"
from() {	# HOME: a run's status by the defaults below it
	setpriv --reuid=$ALICE --regid=$ALICE --init-groups env -i \
	    PATH=/usr/bin:/bin HOME="$1" BAILIFF_HELPER="$helper" "$C" exec \
	    -- true </dev/null 2>"$work/err"
	echo $?
}
home=$S/home
install -d -o $ALICE -m 755 "$home" && install -d -m 700 "$home/.config"
is "$(from "$home") $(grep -c "config can't be read: Permission" "$work/err")" \
    "125 1" "a ~/.config of root's, after sudo: no run"
chmod 700 "$home" && chown 0 "$home"
is "$(from "$home")" 0 "in a home of root's, which sudo has kept: a run"
is "$(from "$home/deeper")" 0 "or a home below that"
rm -r "$home/.config" && chown $ALICE "$home" && mkdir "$home/.config"
: >"$home/.config/bailiff"
is "$(from "$home") $(grep -c "can't be read: Not a dir" "$work/err")" "125 1" \
    "a file in the folder's place: no run"
is "$(from /dev/null) $(from "$home/none")" "0 0" "no home at all: a run"
rm "$file"
ln -s /gone/config "$file"
as_run "defaults that are a link to nowhere"
is "$st" 3 "defaults that are a link to nowhere: none"
rm "$file"
mkfifo -m 644 "$file"
as_run "defaults that are a pipe"
is "$st" 3 "defaults that are a pipe: none"
rm "$file"
mv "$config" "$config.own" && mkdir "$config"
install -d -o $ALICE -m 000 "$config/bailiff"
as_run "a folder of defaults that its user has shut"
is "$st" 3 "a folder of defaults that its user has shut: none"
rm -r "$config" && ln -s /gone "$config"
as_run "a folder of defaults that is a link to nowhere"
is "$st" 3 "a folder of defaults that is a link to nowhere: none"
rm "$config" && mv "$config.own" "$config"
defaults "memory = 1g"
$who "$client" doctor >"$work/out" 2>&1
is $? 0 "for people: it works"
defaults "way = socket"
$who "$client" doctor >"$work/out" 2>&1
like "$? $(head -n 1 "$work/out")" '3 bailiff run would use: nothing: .*socket.*' \
    "for people: nothing, and why"
if [ "$(cat /proc/sys/user/max_user_namespaces)" != 0 ] && as $ALICE bwrap \
    --unshare-all --ro-bind / / true 2>/dev/null; then
	defaults "way = bwrap"
	as_run "a weaker way than the automatic one"
	is "$(cp "$work/ran" "$work/out"; ask 'd["way"]')" bwrap \
	    "a weaker way than the automatic one: bwrap"
	defaults "require = uid,net" "way = bwrap"
	as_run "a way, and more than it has"
	look
	like "$(of checks config fix)" '.*or leave uid out of --require' \
	    "a way, and more than it has: the fix"
	defaults "require = net" "way = bwrap"
	as_run "a way, and more than it has: done"
	defaults "judge-net = host" "way = bwrap"
	as_run "a way that can't give what is asked for"
else
	skip "defaults with bwrap" "bwrap can't be used here"
fi
rm "$file" && mkdir "$file"
as_run "a folder in its place"
is "$(look; of checks config status) $(of checks config fix)" \
    "doesnt let $file be a file that alice can read" \
    "a folder in its place: the fix"
rm -r "$config"
config=/none

# --- all is well -----------------------------------------------------------------

look
is "$st $(ask 'd["way"]')" "0 setuid" "installed: a run would use setuid"
is "$(ask 'd["schema"]')" bailiff-doctor/1 "its schema"
is "$(wc -l <"$work/out")" 1 "one line"
is "$(ask 'sorted({tuple(x) for x in d["ways"]})')" \
    "[('name', 'status', 'used', 'reason', 'object', 'fix')]" "a way's members"
is "$(ask 'sorted({tuple(x) for x in d["checks"]})')" \
    "[('name', 'status', 'object', 'detail', 'fix')]" "a check's members"
is "$(ask '[x["name"] for x in d["ways"]]')" "['setuid', 'capabilities', \
'socket', 'root', 'rootless', 'bwrap', 'plain']" "every way"
is "$(ask '[x["name"] for x in d["ways"] if x["used"]]')" "['setuid']" \
    "one is used"
is "$(ask 'all((x["status"] == "doesnt") == (x["fix"] != "")
    for x in d["ways"] + d["checks"])')" True \
    "a fix for all that doesn't work, and for nothing else"
is "$(ask 'all("\n" not in x["fix"] and x["object"] for x in d["checks"])')" \
    True "each on an object"
alice "$C" doctor >"$work/text" 2>"$work/err"
is "$? $(head -n 1 "$work/text")" "0 bailiff run would use: setuid" \
    "for people"
is "$(grep -c '^  helper_setuid  *works ' "$work/text")" 1 "a line each"
alice "$C" doctor --nonsense >"$work/text" 2>"$work/err"
is $? 64 "usage"
alice "$C" doctor --help >"$work/text" 2>"$work/err"
is "$? $(grep -c '^usage: bailiff doctor' "$work/text")" "0 1" "help"
alice "$C" doctor >/dev/full 2>"$work/err"
is $? 3 "what can't be written is no success"

# --- the helper's file -------------------------------------------------------------

chmod 0750 "$H"
sick helper_setuid "$H" setuid "no set-user-id bit"
is "$st $(ask 'd["way"]')" "3 None" "no set-user-id bit: no run would work"
do_fix "no set-user-id bit"
well helper_setuid setuid "no set-user-id bit"

chmod 0755 "$H" && chgrp 0 "$H"
sick helper_setuid "$H" setuid "HELPER_MODE=none without systemd"
is "$fix" "sudo make install (as root: make install)" \
    "HELPER_MODE=none without systemd: the fix"
mkdir -p /run/systemd/system
sick helper_setuid "$H" setuid "HELPER_MODE=none"
like "$fix" 'as root: systemctl enable --now bailiff.socket, or: .*' \
    "HELPER_MODE=none: the fix"
rm -r /run/systemd
do_fix "HELPER_MODE=none"
well helper_setuid setuid "HELPER_MODE=none"

chmod 0750 "$H" && setcap cap_setuid,cap_setgid,cap_sys_admin+ep "$H"
sick helper_capabilities "$H" capabilities "half of the capabilities"
like "$(of checks helper_capabilities detail)" \
    '.* cap_kill,cap_net_admin,cap_mknod,cap_chown,cap_setpcap.*' \
    "half of the capabilities: those that are missing"
do_fix "half of the capabilities"
well helper_capabilities capabilities "half of the capabilities"
setcap "$(getcap "$H" | sed 's/^[^ ]* //; s/[=+]ep$/+p/')" "$H"
sick helper_capabilities "$H" capabilities "capabilities that don't take effect"
do_fix "capabilities that don't take effect"
well helper_capabilities capabilities "capabilities that don't take effect"
# execve(2) then refuses the file: all that make install gives, and one of it
# that can't be had
less() {
	setpriv --reuid=$ALICE --regid=$ALICE --init-groups \
	    --bounding-set=-sys_resource env -i PATH=/usr/bin:/bin HOME=/ \
	    BAILIFF_HELPER="$H" "$@" </dev/null
}
setcap "$(env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -f - caps <<'END'
include Makefile
caps: ; @echo '$(HELPER_CAPS)'
END
)" "$H"
who=less
sick bounding_set "/proc/self/status CapBnd" capabilities \
    "a capability that can't be had"
like "$(of checks bounding_set detail)" '.* CAP_SYS_RESOURCE, .*' \
    "a capability that can't be had: which"
less "$C" run "$S/env" --answer "$right" >"$work/err" 2>&1
is $? 3 "a capability that can't be had: no run"
like "$(tr '\n' ' ' <"$work/err")" '.*can.t give.*see bailiff doctor.*' \
    "a capability that can't be had: the run's hint"
do_fix "a capability that can't be had"
well bounding_set capabilities "a capability that can't be had"
who=alice
setcap -r "$H" && chmod 4750 "$H"

chown $ALICE "$H"
sick helper_setuid "$H" setuid "a helper of the user's own"
do_fix "a helper of the user's own"
well helper_setuid setuid "a helper of the user's own"
chmod 4770 "$H"
sick helper_owner "$H" setuid "a helper that its group can write"
do_fix "a helper that its group can write"
well helper_owner setuid "a helper that its group can write"
writable() {	# FOLDER TEXT
	look
	fix=$(of checks helper_folder fix)
	is "$(of checks helper_folder status) $(of checks helper_folder \
	    object)" "doesnt $1" "$2: its object"
	is "$st $(ask 'd["way"]')" "1 setuid" \
	    "$2: a run works, and something is broken"
}
chmod 0775 "$S"
writable "$S" "somebody's folder that others can write"
is "$fix" "have it where root alone can write: sudo make install (as root: \
make install)" "somebody's folder that others can write: it is left alone"
chmod 0755 "$S"
mount -t tmpfs -o mode=0755 tmpfs /usr/local && mkdir -p "${helper_path%/*}" &&
    install -o root -g $GROUP -m 4750 "$H" "$helper_path"
ok $? "a helper in its own place"
helper=
chmod 0775 "${helper_path%/*}"
writable "${helper_path%/*}" "its folder, which others can write"
do_fix "its folder, which others can write"
well helper_folder setuid "its folder, which others can write"
# A link to nowhere in its path is no reason to do without it.
mv "${helper_path%/*}" "${helper_path%/*}.away"
ln -s /gone "${helper_path%/*}"
look
is "$st $(ask 'd["way"]')" "3 None" "a link to nowhere in its path: no way"
$who "$client" exec --json -- true >"$work/out" 2>"$work/err"
is "$? $(ask 'd["error"]["code"]')" "125 helper_missing" \
    "a link to nowhere in its path: no run"
umount /usr/local
helper=$(printf '%05000d' 1)
$who "$client" exec --json -- true >"$work/out" 2>"$work/err"
is "$? $(ask 'd["error"]["code"]')" "125 helper_start" \
    "a name for it that is too long: no run"
helper=$'/tmp/x\nbailiff run would use: setuid'
$who "$client" doctor >"$work/text" 2>&1
is "$? $(grep -c '^bailiff run would use' "$work/text")" "3 1" \
    "a name with a line of its own: it makes none"
helper=$H

# Nothing that somebody else could have written is given rights by a fix, nor is
# a name in one more than a name.
mkdir -p "$work/open/a b;id" "$S/odd 'dir" "$S/odd;true"
install -o $ALICE -g $ALICE -m 0755 "$BUILD/bailiff-helper" \
    "$work/open/a b;id/h"
chown $ALICE "$work/open/a b;id"
helper="$work/open/a b;id/h"
for w in 0755 4755 0777; do
	chmod $w "$helper"
	look
	is "$(ask '[x["fix"] for x in d["ways"] + d["checks"]
	    if "as root:" in x["fix"] and "open" in x["fix"]]')" "[]" \
	    "a helper of the user's, $w: no command of root's for it"
done
install -o root -g $GROUP -m 0750 "$H" "$S/odd;true/bailiff-helper"
cp "$C" "$S/odd;true/"
helper="$S/odd;true/bailiff-helper" client="$S/odd;true/bailiff"
sick helper_setuid "$helper" setuid "a helper with an odd name"
is "$fix" "as root: chmod 4750 '$helper'" "a helper with an odd name: the fix"
do_fix "a helper with an odd name"
well helper_setuid setuid "a helper with an odd name"
client=$C helper=$H

# Nor is what is no helper of bailiff's, whatever a name in the environment says.
no_command() {	# NAME-PART TEXT: nothing for root to do to such a file
	is "$(ask "[x['fix'] for x in d['ways'] + d['checks']
	    if 'as root:' in x['fix'] and '$1' in x['fix']]")" "[]" "$2"
}
# Where it is not that name that is wrong, the name is the cause.
astray() {	# PATH TEXT
	helper=$1
	sick helper_file "$1" setuid "BAILIFF_HELPER: $2"
	is "$st $fix" "3 unset BAILIFF_HELPER" "BAILIFF_HELPER: $2: the fix"
	no_command "$1" "BAILIFF_HELPER: $2: no command of root's for it"
}
mount -t tmpfs -o mode=0755 tmpfs /usr/local && mkdir -p "${helper_path%/*}" &&
    install -o root -g $GROUP -m 4750 "$H" "$helper_path"
ok $? "a helper in its own place, again"
client=$plain/bailiff
astray /nope "nothing there"
$who "$client" exec -- true 2>"$work/err"
is "$? $(grep -c 'unset BAILIFF_HELPER' "$work/err")" "125 1" \
    "BAILIFF_HELPER: nothing there: exec says so, too"
astray "$(realpath /usr/bin/python3)" "another program"
astray /usr/bin "a folder"
astray "$plain/bailiff-helper" "a build's helper"
install -o root -g root -m 0755 "$BUILD/bailiff-helper" "$S/h"
astray "$S/h" "some other helper without rights"
helper=
well helper_file setuid "BAILIFF_HELPER: unset"
umount /usr/local
client=$C
astray "$(realpath /usr/bin/python3)" "another program, and none is installed"
helper=$H

# What works is not given the rights of another kind by a fix for a way that is
# not needed.
look
like "$(of ways capabilities fix)" 'none is needed: .*' \
    "set-user-id bit: no capabilities needed"
chmod 0750 "$H"
setcap cap_setuid,cap_setgid,cap_kill,cap_sys_admin,cap_net_admin,cap_mknod,\
cap_chown,cap_setpcap=ep "$H"
look
is "$(ask 'd["way"]')" capabilities "capabilities: they work"
like "$(of ways setuid fix)" 'none is needed: .*' \
    "capabilities: no set-user-id bit needed"
chgrp root "$H" && chmod 0755 "$H" && setcap cap_setuid=ep "$H"
sick helper_capabilities "$H" capabilities "capabilities, and root's group"
like "$fix" "as root: chgrp bailiff $H && .*setcap .*" \
    "capabilities, and root's group: the group is in the fix"
do_fix "capabilities, and root's group"
well helper_capabilities capabilities "capabilities, and root's group"
setcap -r "$H" && chmod 4750 "$H"

sed -i "s/^bailiff:.*/bailiff:x:$GROUP:/" /etc/group
sick helper_group "$H" setuid "not in the group"
do_fix "not in the group"
well helper_group setuid "not in the group"
login=(--clear-groups)
sick helper_group "$H" setuid "in the group since after the login"
is "$fix" "log in again" "in the group since after the login: the fix"
login=(--init-groups)
well helper_group setuid "in the group since after the login"
cp /etc/passwd "$work/passwd"
sed -i '/^alice:/d' /etc/passwd
login=(--clear-groups)
sick helper_group "$H" setuid "a user without a name"
do_fix "a user without a name"
login=(--init-groups)
well helper_group setuid "a user without a name"
cp "$work/passwd" /etc/passwd
chgrp root "$H" && chmod 4750 "$H"
sick helper_group "$H" setuid "root's group"
do_fix "root's group"
well helper_group setuid "root's group"

mount -t tmpfs -o mode=0755 tmpfs /usr/local && mkdir -p "${helper_path%/*}"
ok $? "a place for mounts"
helper=
for w in nosuid:helper_mount noexec:helper_exec; do
	mount -t tmpfs -o "mode=0755,${w%:*}" tmpfs "${helper_path%/*}" ||
	    exit 1
	install -o root -g $GROUP -m 4750 "$H" "$helper_path"
	sick "${w#*:}" "${helper_path%/*}" setuid "a ${w%:*} mount"
	do_fix "a ${w%:*} mount"
	well "${w#*:}" setuid "a ${w%:*} mount"
	umount "${helper_path%/*}"
done
umount /usr/local
helper=$H

# --- this process ------------------------------------------------------------------

inside=(setpriv --no-new-privs)
alice_nnp() {
	setpriv --reuid=$ALICE --regid=$ALICE --init-groups --no-new-privs \
	    env -i PATH=/usr/bin:/bin XDG_CONFIG_HOME=/none HOME=/ \
	    ${helper:+"BAILIFF_HELPER=$helper"} "$@" </dev/null
}
inside=()
who=alice_nnp
sick no_new_privs "/proc/self/status NoNewPrivs" setuid "no_new_privs"
like "$fix" 'start bailiff outside of what has set it .*setpriv.*' \
    "no_new_privs: the fix"
who=alice
well no_new_privs setuid "no_new_privs, outside of it"

few() {
	prlimit --nofile=1000:1000 setpriv --reuid=$ALICE --regid=$ALICE \
	    --init-groups --bounding-set=-sys_resource env -i \
	    PATH=/usr/bin:/bin HOME=/ BAILIFF_HELPER="$H" "$@" </dev/null
}
who=few
sick limits /proc/self/limits setuid "too few open files"
do_fix "too few open files"
limit=$(awk '$1 == "alice" && $2 == "hard" && $3 == "nofile" { print $4 }' \
    /etc/security/limits.conf)
enough() {	# as a login does with that file
	prlimit "--nofile=$limit:$limit" setpriv --reuid=$ALICE \
	    --regid=$ALICE --init-groups --bounding-set=-sys_resource env -i \
	    PATH=/usr/bin:/bin HOME=/ BAILIFF_HELPER="$H" "$@" </dev/null
}
who=enough
well limits setuid "enough of them"
# less than a run's own, by its defaults or the user's
short() {
	prlimit --data=1000000000 setpriv --reuid=$ALICE --regid=$ALICE \
	    --init-groups --bounding-set=-sys_resource env -i \
	    XDG_CONFIG_HOME=$config PATH=/usr/bin:/bin HOME=/ \
	    BAILIFF_HELPER="$H" "$@" </dev/null
}
who=short
sick limits /proc/self/limits setuid "a limit below that of a run's cells"
is "$(of checks limits detail)" "the hard limit of data is 1000000000; a run \
needs 2147483648" "a limit below that of a run's cells: which"
like "$fix" ".*'alice hard data 2097152'.*" "and the fix"
config=$S/config && mkdir -p "$config/bailiff" && defaults "memory = 900m"
well limits setuid "defaults with less than the limit"
rm -r "$config" && config=/none
long() {
	prlimit --cpu=3600 setpriv --reuid=$ALICE --regid=$ALICE \
	    --init-groups --bounding-set=-sys_resource env -i \
	    XDG_CONFIG_HOME=$config PATH=/usr/bin:/bin HOME=/ \
	    BAILIFF_HELPER="$H" "$@" </dev/null
}
who=long
config=$S/config && mkdir -p "$config/bailiff" && defaults "judge-timeout = 3590"
sick limits /proc/self/limits setuid "less processor time than a run may take"
is "$st" 3 "less processor time than a run may take: none would work"
rm -r "$config" && config=/none
well limits setuid "a run that can't take it"
who=alice

# --- other walls: files of this test's own take the place of the kernel's ------------

stand() {	# FILE CONTENT: what doctor reads, and its fix writes
	echo "$2" >"$S/stand" && mount --bind "$S/stand" "$1"
}
for w in '@/run/x' '@@/run/x'; do
	stand /proc/sys/kernel/core_pattern "$w"
	look
	is "$st $(of checks core_pattern status) $(of checks core_pattern \
	    object)" "0 doesnt /proc/sys/kernel/core_pattern" \
	    "a core pattern that is a socket, $w"
	fix=$(of checks core_pattern fix)
	do_fix "a core pattern that is a socket"
	well core_pattern setuid "a core pattern that is a socket"
	umount /proc/sys/kernel/core_pattern
done
stand /proc/sys/kernel/core_pattern "|/usr/lib/systemd/systemd-coredump %P"
well core_pattern setuid "a core pattern that is a pipe"
umount /proc/sys/kernel/core_pattern
if mount -t proc -o hidepid=2 proc /proc; then
	well proc setuid "a /proc with hidepid"
	umount /proc
fi
if mount -t tmpfs tmpfs /sys/fs && mkdir /sys/fs/selinux &&
    echo 1 >/sys/fs/selinux/enforce; then
	look
	is "$st $(of checks selinux status) $(of checks selinux object)" \
	    "0 unknown /sys/fs/selinux/enforce" "SELinux: not known"
	umount /sys/fs
fi
# --- rules and locks ----------------------------------------------------------------

policy <<<"caller $BOB slots 8"
sick rules_caller /etc/bailiff/rules setuid "rules without the caller"
do_fix "rules without the caller"
well rules_caller setuid "rules without the caller"
policy <<<"caller $ALICE slots 1"
sick rules_caller /etc/bailiff/rules setuid "rules with one cell"
is "$st" 3 "rules with one cell: no run would work"
$who "$client" run "$S/env" --answer "$right" --json >"$work/out" 2>"$work/err"
is "$? $(ask '"%(failure_kind)s %(failure_reason)s" % d')" \
    "3 setup slots_too_few" "rules with one cell: a run says so"
policy <<<"caller $ALICE slots 2"
well rules_caller setuid "rules with one cell"
policy_usual
chmod 0666 /etc/bailiff/rules
sick rules_file /etc/bailiff/rules setuid "rules that others can write"
do_fix "rules that others can write"
well rules_file setuid "rules that others can write"
chown $ALICE /etc/bailiff/rules
sick rules_file /etc/bailiff/rules setuid "rules of the user's own"
do_fix "rules of the user's own"
well rules_file setuid "rules of the user's own"
chmod 0777 /etc/bailiff
sick rules_file /etc/bailiff setuid "a folder of rules that others can write"
do_fix "a folder of rules that others can write"
well rules_file setuid "a folder of rules that others can write"
echo none >/etc/bailiff/rules
sick rules_file /etc/bailiff/rules setuid "a file that is no rules"
do_fix "a file that is no rules"
well rules_file setuid "a file that is no rules"
rm /etc/bailiff/rules
sick rules_file /etc/bailiff/rules setuid "rules that are missing"
do_fix "rules that are missing"
well rules_file setuid "rules that are missing"
{ cat /etc/bailiff/policy; echo "group 9753"; } >"$work/p"
cp "$work/p" /etc/bailiff/policy
echo "others:x:9753:" >>/etc/group
bailiff_rules=$S/bin/bailiff-rules
"$bailiff_rules" compile /etc/bailiff/policy -o /etc/bailiff/rules
sick rules_caller /etc/bailiff/rules setuid "rules for another group"
do_fix "rules for another group"
well rules_caller setuid "rules for another group"
policy_usual
# A policy that others have written is not made root's own words.
others() {	# OBJECT TEXT
	chmod 0666 /etc/bailiff/rules
	sick rules_file "$1" setuid "$2"
	no_command bailiff-rules "$2: no command compiles it"
	chmod 0644 /etc/bailiff/rules
	cp /etc/bailiff/rules "$work/rules.was"
	"$bailiff_rules" compile /etc/bailiff/policy -o /etc/bailiff/rules \
	    >"$work/out" 2>&1
	is "$? $(grep -c " $1 \(is not root's\|can be written\)" "$work/out")" \
	    "1 1" "$2: bailiff-rules says so"
	(cd /etc && "$bailiff_rules" compile bailiff/../bailiff/policy \
	    -o bailiff/new) >"$work/out" 2>&1
	is "$? $(cd /etc/bailiff && echo new*)" "1 new*" "$2: by other names"
	cmp -s /etc/bailiff/rules "$work/rules.was"
	ok $? "$2: the rules stay"
	"$bailiff_rules" compile /etc/bailiff/policy -o "$work/rules.new" \
	    >"$work/out" 2>&1
	ok $? "$2: elsewhere it is compiled" "$work/out"
}
chown $ALICE /etc/bailiff/policy
others /etc/bailiff/policy "a policy of the user's"
policy <<<"caller $BOB slots 8"
chown $ALICE /etc/bailiff/policy
sick rules_caller /etc/bailiff/policy setuid "no line in it, and it is the user's"
no_command /etc/bailiff/policy.*compile "no line in it: no command compiles it"
like "$fix" 'as root: mv /etc/bailiff/policy /etc/bailiff/policy.old; .*' \
    "no line in it: the fix"
policy_usual
chown 0 /etc/bailiff/policy
chmod 0664 /etc/bailiff/policy
others /etc/bailiff/policy "a policy that a group can write"
chmod 0644 /etc/bailiff/policy
mkdir -m 0777 "$S/open"
mv /etc/bailiff/policy "$S/open/" && ln -s "$S/open/policy" /etc/bailiff/policy
others "$S/open" "a policy in a folder that others can write"
rm /etc/bailiff/policy
policy_usual
"$bailiff_rules" compile /dev/stdin -o /etc/bailiff/rules \
    <"$work/rules.src" 2>"$work/out"
ok $? "what comes as a descriptor is taken" "$work/out"
chown $ALICE "$work/rules.src"
"$bailiff_rules" compile /dev/stdin -o /etc/bailiff/rules \
    <"$work/rules.src" 2>"$work/out"
is $? 1 "but no file of another's"
chown 0 "$work/rules.src"
well rules_file setuid "a policy of root's"

chmod 0755 /run/bailiff
sick locks /run/bailiff setuid "locks that others can see"
do_fix "locks that others can see"
well locks setuid "locks that others can see"
chown $ALICE /run/bailiff
sick locks /run/bailiff setuid "locks of the user's own"
do_fix "locks of the user's own"
well locks setuid "locks of the user's own"

# --- the socket ---------------------------------------------------------------------

helper=
client=$plain/bailiff
cat >"$S/listen.py" <<'PY'
# As bailiff.socket does it: a helper for each connection, on descriptor 3.
import os, socket, sys
path, helper, gid, serve = sys.argv[1:]
if os.path.exists(path):
    os.unlink(path)
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(path)
os.chown(path, 0, int(gid))
os.chmod(path, 0o660)
s.listen(16)
if serve == "no" or os.fork() != 0:
    os._exit(0)
os.setsid()
while True:
    c, _ = s.accept()
    if os.fork() == 0:
        s.close()
        os.dup2(c.fileno(), 3) if c.fileno() != 3 else os.set_inheritable(3, 1)
        os.execv(helper, ["bailiff-helper"])
    c.close()
PY
# What systemctl would do, where there is no systemd.
cat >"$S/bin/systemctl" <<END
#!/bin/sh
[ "\$*" = "enable --now bailiff.socket" ] || exit 1
/usr/bin/python3 $S/listen.py /run/bailiff.sock $H $GROUP yes \
    </dev/null >/dev/null 2>&1
END
chmod 755 "$S/bin/systemctl"
cleanup() {
	local p
	for p in $(pgrep -f -- "$S/listen.py"); do
		kill "$p" 2>/dev/null
	done
}
trap cleanup EXIT
/usr/bin/python3 "$S/listen.py" /run/bailiff.sock "$H" $GROUP no
look
like "$(of checks socket fix)" 'systemd does not run here.*' \
    "nobody listens, and no systemd would"
mkdir -p /run/systemd/system
sick socket /run/bailiff.sock socket "nobody listens"
is "$st $(of ways socket used)" "3 True" "nobody listens: no run would work"
do_fix "nobody listens"
for _ in {1..50}; do
	[ -n "$(pgrep -f -- "$S/listen.py")" ] && break
	sleep 0.1
done
rm -r /run/systemd
well socket socket "nobody listens"
who=alice_nnp
look
is "$st $(ask 'd["way"]')" "0 socket" "no_new_privs is no harm to the socket"
is "$(of checks no_new_privs status) $(of ways setuid status)" \
    "doesnt doesnt" "but to others"
who=alice
helper=$H
who=alice_nnp
look
is "$st $(ask 'd["way"]')" "0 socket" "an installed helper that can't gain rights"
who=alice
for helper in /nonexistent "$S"; do
	alice "$C" exec --json -- true >"$work/out" 2>"$work/err"
	is "$? $(ask 'd["error"]["object"]')" "125 $helper" \
	    "a helper by name that can't be used is not passed over: $helper"
done
helper=
# make install HELPER_MODE=none
mount -t tmpfs -o mode=0755 tmpfs /usr/local && mkdir -p "${helper_path%/*}" &&
    install -o root -g root -m 0755 "$BUILD/bailiff-helper" "$helper_path"
ok $? "a helper without rights of its own"
well helper_setuid socket "HELPER_MODE=none"
look
is "$(ask '[x["fix"] for x in d["ways"] + d["checks"]
    if "setcap" in x["fix"] or "chmod" in x["fix"]]')" "[]" \
    "HELPER_MODE=none: no command that gives its file rights"
for w in setuid capabilities; do
	like "$(of ways $w fix)" 'none is needed: .*' \
	    "HELPER_MODE=none: $w is not needed"
done
umount /usr/local
login=(--clear-groups)
sick socket /run/bailiff.sock socket "not in the socket's group"
is "$fix" "log in again" "not in the socket's group: the fix"
login=(--init-groups)
well socket socket "in the socket's group"
cleanup
rm -f /run/bailiff.sock
# One that listens and is busy all the time.
/usr/bin/python3 - $GROUP <<'PY' &
import os, socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind("/run/bailiff.sock")
os.chown("/run/bailiff.sock", 0, int(sys.argv[1]))
os.chmod("/run/bailiff.sock", 0o660)
s.listen(0)
held = []
try:
    while True:
        c = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        c.setblocking(False)
        c.connect("/run/bailiff.sock")
        held.append(c)
except BlockingIOError:
    open("/run/busy", "w").close()
time.sleep(60)
PY
busy=$!
for _ in {1..50}; do
	[ ! -e /run/busy ] || break
	sleep 0.1
done
look
is "$st $(of checks socket status) $(of ways socket status)" \
    "3 unknown unknown" "a busy socket: not known"
like "$(of checks socket detail); $(of ways socket reason)" \
    'busy: .*try again; busy: .*try again' "a busy socket: it says so"
is "$(of checks socket fix)$(of ways socket fix)" "" "a busy socket: no fix"
kill $busy
wait $busy 2>/dev/null
rm -f /run/bailiff.sock

# --- a helper with rights beside the client, nothing elsewhere --------------------------

own=$S/own				# a mount of its own, to be made nosuid
mkdir "$own" && mount -t tmpfs -o mode=0755 tmpfs "$own" && cp "$C" "$own/"
install -o root -g $GROUP -m 4750 "$BUILD/bailiff-helper" "$own/"
client=$own/bailiff
passed() {	# CODE TEXT: no weaker way takes its place, and doctor agrees
	$who "$client" run "$S/env" --answer "$right" --json >"$work/out" \
	    2>"$work/err"
	is "$? $(ask '"%s %s" % (d["verdict"], d["failure_reason"])')" \
	    "3 none $1" "beside the client: $2"
	look
	is "$st $(of ways setuid used) $(of ways setuid status)" \
	    "3 True doesnt" "beside the client: $2: doctor"
}
look
is "$st $(ask 'd["way"]')" "0 setuid" "beside the client: it is taken"
who=alice_nnp
passed helper_not_root "no_new_privs"
who=alice
mount -o remount,nosuid "$own"
passed helper_not_root "a nosuid mount"
mount -o remount,suid "$own"
login=(--clear-groups)
passed helper_start "not in its group"
alice_out() {
	setpriv --no-new-privs --reuid=$ALICE --regid=$ALICE --clear-groups \
	    env -i PATH=/usr/bin:/bin XDG_CONFIG_HOME=/none HOME=/ "$@" </dev/null
}
who=alice_out
passed helper_start "neither in its group nor free to gain rights"
who=alice
login=(--init-groups)
client=$plain/bailiff
umount "$own"

# --- an ordinary user, nothing installed -----------------------------------------------

# What this build can do without a helper that is installed.
can() {		# WAY
	[ "$(of ways "$1" status)" = works ] && return
	[[ $(of ways "$1" reason) != *"this build can't do it"* ]] &&
	    of ways "$1" reason | sed 's/^/# /'
}
sick helper_file "$helper_path" setuid "nothing installed"
like "$st $(ask 'd["way"]')" '3 None|0 (rootless|bwrap)' \
    "nothing installed: nothing, or a way without"
is "$fix" "sudo make install (as root: make install)" \
    "nothing installed: the fix"
alice "$client" exec --way setuid --json -- true >"$work/out" 2>"$work/err"
is "$? $(ask '[d["error"][k] for k in ("code", "message")]')" \
    "125 ['helper_missing', 'the helper is not installed']" \
    "nothing installed: --way setuid says so, a build's own helper or not"
look
is "$(of checks subuid status) $(of checks subuid object)" \
    "doesnt /etc/subuid" "no subuid: its object"
fix=$(of checks subuid fix)
is "$(of ways rootless status) $(of ways rootless object)" \
    "doesnt /etc/subuid" "no subuid: the cause of rootless"
is "$(of ways rootless fix)" "$fix" "no subuid: the same fix"
sed -i '/^alice:/d' /etc/passwd
login=(--clear-groups)
look
is "$(of ways rootless object) $(of ways rootless fix)" \
    "/etc/passwd as root: useradd -M -u $ALICE user$ALICE" \
    "no subuid, and no name: the name first"
login=(--init-groups)
cp "$work/passwd" /etc/passwd
echo "bob:100000:65536" >>/etc/subuid
printf '%s\n' alice:90000:600 alice:91000:600 >>/etc/subuid
look
is "$(of checks subuid status)" doesnt "two subuid ranges, both too small"
like "$(of checks subuid detail)" '.* 600 ids: .* 1024 in one' \
    "two subuid ranges, both too small: what is needed"
sed -i '/^alice:/d' /etc/subuid
look
like "$(of checks subuid fix)" '.* 165536-231071 alice' \
    "no subuid: a range that nobody has"
fix=$(of checks subuid fix)
is "$(of checks subgid fix)" "$fix" "nor subgid: one command for both"
do_fix "no subuid"
look
is "$(of checks subuid status)" works "no subuid: then it is there"
is "$(of checks subgid status)" works "no subgid: then it is there"
sed -i '/^alice:/d' /etc/subgid
look
is "$(of checks subgid status) $(of ways rootless object)" \
    "doesnt /etc/subgid" "no subgid: the cause of rootless"
fix=$(of checks subgid fix)
is "${fix#*--add-subuids}" "$fix" "no subgid: the other is not lent twice"
do_fix "no subgid"
look
is "$(of checks subgid status)" works "no subgid: then it is there"
if can rootless; then
	well subuid rootless "no subuid"
	runtime=
	look
	is "$(of ways rootless status)" doesnt "no runtime folder"
	fix=$(of ways rootless fix)
	is "$fix" "set XDG_RUNTIME_DIR to a folder of mode 0700" \
	    "no runtime folder: the fix"
	runtime=$S/runtime
	well subuid rootless "a runtime folder"
else
	skip "a run by rootless" "this build can't do it"
fi
: >/etc/subuid
: >/etc/subgid

# --- user namespaces ------------------------------------------------------------------

# A user namespace with every user in it: its root may do there what root of the
# machine may not here, and its limits are its own.
mkfifo "$S/go"
space() {	# SCRIPT [UNSHARE-OPTION...]: run in it, by a bash of its root
	local script=$1 p i
	shift
	unshare -U "$@" bash -c 'read -r _ <"$1"; exec setpriv --reuid=0 \
	    --regid=0 --clear-groups bash "$2"' - "$S/go" "$script" &
	p=$!
	for i in {1..200}; do
		[ "$(readlink /proc/$p/ns/user)" != \
		    "$(readlink /proc/self/ns/user)" ] && break
		sleep 0.05
	done
	echo "0 0 4294967295" >/proc/$p/uid_map &&
	    echo "0 0 4294967295" >/proc/$p/gid_map
	echo go >"$S/go"
	wait $p
}
# What has to be known there is in files: functions don't go along.
cat >"$S/off.sh" <<END
sysctl -qw user.max_user_namespaces=0 || exit 99
alice() {
	setpriv --reuid=$ALICE --regid=$ALICE --init-groups env -i \
	    PATH=/usr/bin:/bin XDG_CONFIG_HOME=/none HOME=/ "\$@" </dev/null
}
alice $plain/bailiff doctor --json >$work/before
fix=\$(/usr/bin/python3 -c 'import json, sys
print([x["fix"] for x in json.load(open(sys.argv[1]))["checks"]
    if x["name"] == "user_namespaces"][0])' $work/before)
PATH=/usr/sbin:/sbin:\$PATH bash -c "\${fix#as root: }" >$work/fix 2>&1 ||
    exit 98
alice unshare -Ur true || exit 97
alice $plain/bailiff doctor --json >$work/after
alice $plain/bailiff run $S/env --answer $right --json >$work/ran
exit 0
END
if space "$S/off.sh" 2>"$work/err"; st=$?; [ $st = 99 ]; then
	skip "user namespaces off" "the limit can't be set in a namespace"
else
	is $st 0 "user namespaces off: the fix is done, and one can be made"
	cp "$work/before" "$work/out"
	knob=/proc/sys/user/max_user_namespaces
	is "$(of checks user_namespaces status) $(of checks user_namespaces \
	    object)" "doesnt $knob" "user namespaces off: its object"
	is "$(of checks user_namespaces fix)" \
	    "as root: sysctl -w user.max_user_namespaces=15000" \
	    "user namespaces off: the fix"
	for w in rootless bwrap; do
		is "$(of ways $w status) $(of ways $w object)" "doesnt $knob" \
		    "user namespaces off: the cause of $w"
	done
	cp "$work/after" "$work/out"
	is "$(of checks user_namespaces status)" works \
	    "user namespaces on: it works"
	if can bwrap; then
		cp "$work/ran" "$work/out"
		is "$(ask 'd["verdict"]')" passed "user namespaces on: a run"
	else
		skip "a run by bwrap" "this build can't do it"
	fi
fi

# All that a limit allows are in use: then it is raised, and never lowered.  And
# a limit of another kind, where waiting is of no use.
cat >"$S/full.sh" <<END
sysctl -qw user.max_user_namespaces=4 || exit 99
alice() {
	setpriv --reuid=$ALICE --regid=$ALICE --init-groups env -i \
	    PATH=/usr/bin:/bin XDG_CONFIG_HOME=/none HOME=/ "\$@" </dev/null
}
held=()
for i in 1 2 3 4; do
	(exec setpriv --reuid=$ALICE --regid=$ALICE --clear-groups unshare -U \
	    sleep 60) & held+=(\$!)
done
for p in "\${held[@]}"; do
	for i in {1..100}; do
		[ "\$(readlink /proc/\$p/ns/user)" = \
		    "\$(readlink /proc/self/ns/user)" ] || break
		sleep 0.05
	done
done
alice $plain/bailiff doctor --json >$work/full
alice $plain/bailiff exec --way rootless --json -- true >$work/full.run
kill "\${held[@]}"
wait
sysctl -qw user.max_user_namespaces=100 user.max_uts_namespaces=0
alice $plain/bailiff doctor --json >$work/uts
alice $plain/bailiff exec --way rootless --json -- true >$work/uts.run
alice $plain/bailiff exec --way bwrap --json -- true >$work/uts.bwrap
exit 0
END
error() {	# of a bailiff exec
	ask '"%(kind)s %(code)s: %(hint)s" % d["error"]'
}
if space "$S/full.sh" 2>"$work/err"; st=$?; [ $st = 99 ]; then
	skip "too many user namespaces" "the limit can't be set in a namespace"
else
	knob=/proc/sys/user/max_user_namespaces
	fix="as root: sysctl -w user.max_user_namespaces=8"
	cp "$work/full" "$work/out"
	is "$(of checks user_namespaces object) $(of checks user_namespaces \
	    fix)" "$knob $fix" "too many user namespaces: object and fix"
	cp "$work/full.run" "$work/out"
	is "$(error)" "infrastructure no_resources: wait for other runs to \
end, or $fix" "too many user namespaces: rootless can't be tried now"
	knob=/proc/sys/user/max_uts_namespaces
	fix="as root: sysctl -w user.max_uts_namespaces=15000"
	cp "$work/uts" "$work/out"
	is "$(of checks user_namespaces object) $(of checks user_namespaces \
	    fix)" "$knob $fix" "no UTS namespaces: object and fix"
	for w in rootless bwrap; do
		is "$(of ways $w status) $(of ways $w object)" "doesnt $knob" \
		    "no UTS namespaces: the cause of $w"
	done
	cp "$work/uts.run" "$work/out"
	is "$(error)" "setup way_missing: $fix" \
	    "no UTS namespaces: rootless never works"
	cp "$work/uts.bwrap" "$work/out"
	case $(error) in
	*"apt install bubblewrap"*) ;;
	*)	is "$(error)" "setup cell_start: $fix" \
		    "no UTS namespaces: nor does bwrap" ;;
	esac
fi

# No more processes can be had: that is no policy, and no container's doing.
full() {	# a user of this test alone: others may have processes of alice's
	setpriv --reuid=$((BASE + 90)) --regid=$((BASE + 90)) --clear-groups \
	    env -i PATH=/usr/bin:/bin XDG_CONFIG_HOME=/none HOME=/ \
	    prlimit --nproc=1:1 "$@" </dev/null
}
who=full client=$plain/bailiff
look
like "$(of checks user_namespaces detail) $(of checks user_namespaces fix)" \
    "no more processes can be had .*ulimit.*pids.max.*" \
    "no more processes: a try can't be made"
who=alice

# --- root in a container ------------------------------------------------------------------

# What docker gives a container's root, and what its options add.
container() {	# [--cap-add=X]... [--security-opt X]... COMMAND...
	local caps=-all c o
	for c in chown dac_override fsetid fowner mknod net_raw setgid setuid \
	    setfcap setpcap net_bind_service sys_chroot kill audit_write; do
		caps+=,+$c
	done
	while [[ ${1-} == --* ]]; do
		case $1 in
		--cap-add=*) o=${1#--cap-add=}; caps+=,+${o,,}; shift ;;
		*)	return 99 ;;
		esac
	done
	setpriv "--bounding-set=$caps" "$@"
}
who=root
client=$plain/bailiff
inside=(container)
sick bounding_set "/proc/self/status CapBnd" root "root in a container"
is "$st $(ask 'd["way"]')" "3 None" "root in a container: no run would work"
is "$fix" \
    "start the container with --cap-add=SYS_ADMIN --cap-add=NET_ADMIN" \
    "root in a container: the fix"
read -ra words <<<"${fix#start the container with }"
inside=(container "${words[@]}")
well bounding_set root "root in a container"
inside=()
rm -f /etc/bailiff/rules
well rules_file root "root, with the built-in rules"
policy_usual

# In a user namespace, with masked parts of /proc: no fresh one may be mounted
# there; and with the network of another one.
cat >"$S/boxed.sh" <<END
cd / && env -i HOME=/ XDG_CONFIG_HOME=/none PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    $plain/bailiff doctor --json >$work/out
echo \$? >$work/st
env -i HOME=/ XDG_CONFIG_HOME=/none PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    $plain/bailiff run $S/env --answer $right --json >$work/ran
END
mask=
for w in /proc/kcore /proc/keys /proc/timer_list /proc/cpuinfo; do
	[ -z "$mask" ] && [ -e "$w" ] && mask=$w
done
net=(-n)
boxed() {	# [--security-opt X]
	: >"$work/ran"
	[ "$*" = "--security-opt systempaths=unconfined" ] ||
	    mount --bind /dev/null "$mask" || return
	space "$S/boxed.sh" -m --propagation private \
	    ${net[@]+"${net[@]}"}
	[ $# != 0 ] || umount "$mask"
}
boxed 2>"$work/err"
st=$(cat "$work/st")
is "$(of checks proc status) $(of checks proc object)" "doesnt $mask" \
    "a masked /proc: its object"
is "$(of ways root status) $(of ways root object)" "doesnt $mask" \
    "a masked /proc: the cause of root"
is "$st $(ask 'd["way"]')" "3 None" "a masked /proc: no run would work"
fix=$(of checks proc fix)
is "$fix" \
    "start the container with --security-opt systempaths=unconfined" \
    "a masked /proc: the fix"
read -ra words <<<"${fix#start the container with }"
boxed_well() {	# CHECK TEXT
	boxed "${words[@]}" 2>"$work/err"
	is "$(cat "$work/st") $(ask 'd["way"]') $(of checks "$1" status)" \
	    "0 root works" "$2: then root works"
	cp "$work/ran" "$work/out"
	is "$(ask '"%s %s" % (d["verdict"], d["way"])')" "passed root" \
	    "$2: a run passes"
}
boxed_well proc "a masked /proc"
net=()
boxed "${words[@]}" 2>"$work/err"
is "$(of checks network status) $(of ways root object)" \
    "doesnt /proc/self/ns/net" "its host's network: the cause of root"
is "$(of ways root fix)" "start the container with a network of its own, not \
its host's" "its host's network: the fix"
net=(-n)
boxed_well network "its host's network"

# --- in a cell: a filter, and nothing to be had -------------------------------------------

who=alice
case $BUILD in
*san)	skip "in a cell" "a program with AddressSanitizer does not run in one" ;;
*)
	cell --ro-bind "$plain:/p" -- /p/bailiff doctor --json
	ask 'd["stdout"]' >"$work/in"
	mv "$work/in" "$work/out"
	is "$(of checks seccomp status) $(of checks seccomp object)" \
	    "doesnt /proc/self/status Seccomp" "in a cell: a filter"
	is "$(of checks no_new_privs status)" doesnt "in a cell: no_new_privs"
	is "$(ask 'd["way"]')" None "in a cell: no way in"
	;;
esac

# --- making it be installed ------------------------------------------------------------------

made=(bailiff bailiff-helper bailiff-rules libbailiff.a libbailiff.so)
missing=
for part in "${made[@]}"; do
	[ -e "$BUILD/$part" ] || missing=$part
done
prefix=${helper_path%/libexec/*}
case $BUILD in
*san|*cov) missing="release build" ;;
esac
if [ -n "$missing" ] || ! mount -t tmpfs -o mode=0755 tmpfs "$prefix"; then
	skip "nothing installed: make install" "no ${missing:-$prefix}"
else
	rm -f /etc/bailiff/*
	client=$plain/bailiff
	helper=
	sick helper_file "$helper_path" setuid "nothing installed, again"
	cmd=${fix#*\(as root: } cmd=${cmd%\)}
	read -ra words <<<"$cmd"
	cp policy/default.policy /etc/bailiff/policy
	chown $ALICE /etc/bailiff/policy
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${words[@]}" "B=$BUILD" \
	    "PREFIX=$prefix" "${made[@]/#/-o$BUILD/}" >"$work/fix" 2>&1
	is "$(($? != 0)) $(grep -c 'policy was not compiled' "$work/fix")" \
	    "1 1" "a policy of the user's: $cmd does not make it root's"
	rm -f /etc/bailiff/*
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${words[@]}" "B=$BUILD" \
	    "PREFIX=$prefix" "${made[@]/#/-o$BUILD/}" >"$work/fix" 2>&1
	ok $? "nothing installed: done: $cmd" "$work/fix"
	well helper_file setuid "nothing installed"
fi
nothing_left "nothing is left"
done_testing
