#!/bin/bash
# E11. Its own folders: rules and slot locks belong to root, all the way up,
# and are looked at as they are: nothing is followed, reused or made through
# what somebody else has put there.
. selftest/payload/setuid.sh

cell -- sh -c 'exit 7'
is $st 7 "control: a normal run"
is "$(stat -c '%U %a' /run/bailiff /run/bailiff/slots | tr '\n' ' ')" \
    "root 700 root 600 " "it has made the folder of its locks"

# A file that is root's, as what somebody would like to have changed.
secret=$S/secret
fresh() {
	rm -rf "$secret" && echo secret >"$secret" && chmod 600 "$secret" &&
	    touch -d '2001-01-01' "$secret"
	before=$(stat -c '%u %g %a %s %h %Y %Z' "$secret")
	before=${before% *}
}
untouched() {
	local now
	now=$(stat -c '%u %g %a %s %h %Y %Z' "$secret")
	[ "${now% *}" = "$before" ] && [ "$(cat "$secret")" = secret ]
}

# --- the locks -------------------------------------------------------------

locks() {	# NAME [STATUS]: as the commands on stdin leave them
	local good=0 code
	rm -rf /run/bailiff
	fresh
	bash -e -s || good=1
	cell -- sh -c 'exit 7'
	code=$(ask 'd["error"]["code"]')
	[[ $st =~ ^(${2-125})$ ]] || good=1
	[ $st = 7 ] || [ "$code" = slot_locks ] || good=1
	untouched || good=1
	[ $good = 0 ]
	ok $? "locks: $1" "$work/out"
}
export secret ALICE
locks "a folder of alice's" <<'END'
mkdir -m 700 /run/bailiff; chown $ALICE /run/bailiff
END
locks "a folder with her group's right to write" <<'END'
mkdir -m 770 /run/bailiff; chown 0:$ALICE /run/bailiff
END
locks "a folder that everybody can write" <<'END'
mkdir -m 1777 /run/bailiff
END
locks "a folder that others can read" <<'END'
mkdir -m 755 /run/bailiff
END
locks "a folder that others can pass" <<'END'
mkdir -m 711 /run/bailiff
END
locks "a link to a sound folder" <<'END'
mkdir -m 700 /run/elsewhere; ln -s elsewhere /run/bailiff
END
locks "a link to nothing" <<'END'
ln -s /run/none /run/bailiff
END
[ ! -e /run/none ]
ok $? "locks: and nothing was made through it"
locks "a file for the folder" <<'END'
echo >/run/bailiff
END
locks "a pipe for the folder" <<'END'
mkfifo -m 600 /run/bailiff
END
folder='mkdir -m 700 /run/bailiff; cd /run/bailiff'
locks "a link to root's file" <<END
$folder; ln -s "\$secret" slots
END
locks "a link to nothing for the file" <<END
$folder; ln -s /run/none2 slots
END
[ ! -e /run/none2 ]
ok $? "locks: and nothing was made through it"
locks "a file of alice's" <<END
$folder; echo >slots; chmod 600 slots; chown \$ALICE slots
END
locks "a file that others can read" <<END
$folder; echo >slots; chmod 644 slots
END
locks "a file that a group can write" <<END
$folder; echo >slots; chmod 660 slots
END
locks "a folder for the file" <<END
$folder; mkdir -m 700 slots
END
locks "a socket" <<END
$folder; /usr/bin/python3 -c 'import socket
s = socket.socket(socket.AF_UNIX); s.bind("slots")'; chmod 600 slots
END
# In root's own folder only root can have put these, and nothing is written.
locks "another name of root's file" '125|7' <<END
$folder; ln "\$secret" /run/bailiff/slots 2>/dev/null ||
    { echo >x; chmod 600 x; ln x slots; }
END
locks "a pipe" '125|7' <<END
$folder; mkfifo -m 600 slots
END
locks "a device" '125|7' <<END
$folder; mknod -m 600 slots c 1 3
END
locks "the folder above is alice's" <<'END'
chown $ALICE /run
END
chown 0 /run
locks "the folder above can be written by everybody" <<'END'
chmod 1777 /run
END
locks "the folder above can be written by a group" <<'END'
chmod 775 /run
END
chmod 755 /run
rm -rf /run/bailiff
mount -t tmpfs -o ro,mode=0755 tmpfs /run
cell -- true
is "$(why)" "125 slot_locks helper/locks" "locks: nothing can be made there"
umount /run
mkdir -m 700 /run/bailiff && mount -t tmpfs -o size=4k,nr_inodes=1,mode=0700 \
    tmpfs /run/bailiff
cell -- true
is "$(why)" "125 slot_locks helper/locks" "locks: no room for the file"
umount /run/bailiff
rm -rf /run/bailiff
cell -- sh -c 'exit 7'
is $st 7 "locks: and then a normal run again"

# --- the rules -------------------------------------------------------------

broken_rules() {	# CODE NAME: as the commands on stdin leave them
	local good=0
	rm -rf /etc/bailiff/*
	chmod 755 /etc/bailiff /etc
	chown 0:0 /etc/bailiff /etc
	usual
	fresh
	(cd /etc/bailiff && bash -e -s) || good=1
	cell -- sh -c 'exit 7'
	[ "$(why)" = "125 $1 helper/rules" ] || good=1
	untouched || good=1
	[ $good = 0 ]
	ok $? "rules: $2" "$work/out"
}
broken_rules rules_unsound "missing" <<'END'
rm rules
END
broken_rules rules_unsound "alice's" <<'END'
chown $ALICE rules
END
broken_rules rules_unsound "writable by a group" <<'END'
chmod 664 rules
END
broken_rules rules_unsound "writable by everybody" <<'END'
chmod 646 rules
END
broken_rules rules_unsound "a link to sound ones" <<'END'
mv rules sound; ln -s sound rules
END
broken_rules rules_unsound "a link to nothing" <<'END'
rm rules; ln -s none rules
END
broken_rules rules_unsound "in a folder that is alice's" <<'END'
chown $ALICE .
END
broken_rules rules_unsound "in a folder that everybody can write" <<'END'
chmod 1777 .
END
broken_rules rules_unsound "in a folder that a group can write" <<'END'
chmod 775 .
END
broken_rules rules_unsound "below a folder that a group can write" <<'END'
chmod 775 /etc
END
broken_rules rules_bad "a folder" <<'END'
rm rules; mkdir rules
END
broken_rules rules_bad "a pipe that nobody writes" <<'END'
rm rules; mkfifo -m 644 rules
END
broken_rules rules_bad "endless zeros" <<'END'
rm rules; mknod -m 644 rules c 1 5
END
broken_rules rules_bad "empty" <<'END'
: >rules
END
broken_rules rules_bad "one byte short" <<'END'
truncate -s -1 rules
END
broken_rules rules_bad "their own source" <<'END'
echo "caller 1-4294967294 slots 1" >rules
END
for at in 0 4 8 12 16; do
	broken_rules rules_bad "byte $at is another" <<END
printf '\377' | dd of=rules bs=1 seek=$at conv=notrunc status=none
printf '\377' | dd of=rules bs=1 seek=$((at + 3)) conv=notrunc status=none
END
done
chmod 755 /etc /etc/bailiff
chown 0:0 /etc /etc/bailiff
rm -rf /etc/bailiff/*
usual
cell -- sh -c 'exit 7'
is $st 7 "rules: and then a normal run again"

# --- meanwhile -------------------------------------------------------------

# Two sets of rules in which the same user numbers belong to other slots.
slots='memory 8g pids 4096 disk 4g fsize 4g wall 1h'
COUNT=64
rules <<END
caller $ALICE slots 4 $slots
END
cp /etc/bailiff/rules "$S/rules.1"
BASE=$((BASE - 1))
rules <<END
caller $ALICE slots 4 $slots
END
cp /etc/bailiff/rules "$S/rules.2"
BASE=$((BASE + 1)) COUNT=1024
usual
known 'its folder has another name now' 'only root can rename it'

hostile E11 "$S/rules.1" "$S/rules.2"
usual

# The clean-up job comes while a run is going on.
begin $ALICE "$C" exec -- sh -c 'sleep 1; exit 7' </dev/null >"$work/o" 2>&1 &
for i in {1..40}; do
	[ -e /run/bailiff/slots ] && pgrep -U $((BASE + 64)) -x sleep >/dev/null &&
	    break
	sleep 0.05
done
rm -rf /run/bailiff
cell -- sh -c 'id -u; exit 7'
first=$(ask 'd["stdout"].strip()')
wait $!
is "$? $st" "7 7" "locks go while a program runs: both runs are normal"
[ "$first" != $((BASE + 64)) ]
ok $? "and don't share a user number"
nothing_left "nothing is left"
done_testing
