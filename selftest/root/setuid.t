#!/bin/bash
# The helper as it is installed, used by an ordinary user on a machine without
# user namespaces: every answer of every example gets the verdict it should,
# with every protection seen.  All that is installed for this lives in a mount
# namespace of the test's own.  Where root may not switch user namespaces off
# (that takes CAP_SYS_RESOURCE), all of it runs in a chroot of the whole tree:
# a process in one gets no user namespace either, see clone(2).
set -u

here=selftest/root
B=${BUILD:-build/release}
user=1234
gid=4321
knob=/proc/sys/user/max_user_namespaces
# the default rules: root's 1024 slots, then 32 for each from 1000 on
first=$((1879113728 + 1024 + (user - 1000) * 32))
n=0

ok() {		# STATUS NAME [FILE]
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		[ $# = 2 ] || head -c 2000 "$3" | sed 's/^/# /'
	fi
}

is() {		# GOT WANT NAME
	local good=1
	[ "$1" = "$2" ] && good=0
	ok $good "$3"
	[ $good = 0 ] || printf '# got  %s\n# want %s\n' "$1" "$2"
}

skip() {
	echo "1..0 # SKIP $1"
	exit 0
}

for part in bailiff bailiff-helper bailiff-rules libbailiff.a libbailiff.so; do
	[ -e "$B/$part" ] || skip "$B has no $part"
done
case $B in
*san|*cov) skip "only a release build is installed set-user-ID" ;;
esac

if [ "${1-}" != inside ]; then
	exec unshare -m --propagation private -- "$0" inside
fi

# --- a place for it ----------------------------------------------------------

house=
for dir in /media /mnt /srv /opt; do
	[ -d $dir ] && [ ! -L $dir ] && house=$dir && break
done
umask 022
mount -n -t tmpfs -o mode=755 setuid.t $house || exit 1
cp -a /etc $house/etc && mount -n --bind $house/etc /etc || exit 1
getent group bailiff >/dev/null || echo "bailiff:x:$gid:" >>/etc/group
gid=$(getent group bailiff | cut -d: -f3)

# where this build looks for its helper
helper=$(grep -aom1 '/[[:print:]]*/libexec/bailiff/bailiff-helper' "$B/bailiff")
prefix=${helper%/libexec/*}
made=(bailiff bailiff-helper bailiff-rules libbailiff.a libbailiff.so)
env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make "B=$B" "PREFIX=$prefix" \
    "DESTDIR=$house/root" "${made[@]/#/-o$B/}" install \
    >$house/log 2>&1
ok $? "make install" $house/log
is "$(stat -c '%a %U:%G' "$house/root$helper")" "4750 root:bailiff" \
    "the helper's owner, group and mode"
above=$(p=$house/root$helper; while [ "$p" != / ]; do p=${p%/*}; p=${p:-/}
	stat -c '%u %A' "$p"; done | grep -vc '^0 d....-..-')
is "$above" 0 "every folder above it is root's alone"
client=$house/root$prefix/bin/bailiff
via=()
if [ -d "$prefix" ] && mount -n --bind "$house/root$prefix" "$prefix"; then
	client=$prefix/bin/bailiff
else
	via=("BAILIFF_HELPER=$house/root$helper")
fi
# the rules, of the policy that was installed
mkdir -p /etc/bailiff && mount -n -t tmpfs -o mode=755 rules /etc/bailiff &&
    cp "$house/root/etc/bailiff/policy" /etc/bailiff/ &&
    "$house/root$prefix/bin/bailiff-rules" compile /etc/bailiff/policy \
	-o /etc/bailiff/rules >$house/log 2>&1
ok $? "the rules are compiled" $house/log
cp -r examples $house/ || exit 1
mkdir -m 1777 $house/open && cd $house/open || exit 1
here=$OLDPWD/$here

jail=()
as() {		# UID GROUPS COMMAND...: an ordinary user, a clean environment
	local uid=$1 groups=(--clear-groups)
	[ -z "$2" ] || groups=(--groups "$2")
	shift 2
	${jail[@]+"${jail[@]}"} setpriv "--reuid=$uid" "--regid=$uid" "${groups[@]}" \
	    env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/nonexistent \
	    ${via[@]+"${via[@]}"} "$@" 9>&-
}

ask() {		# FILE EXPRESSION over d
	/usr/bin/python3 -c 'import json, sys
d = json.load(open(sys.argv[1], encoding="utf-8"))
print(eval(sys.argv[2]))' "$1" "$2" 2>&1
}

# --- no user namespaces ------------------------------------------------------

was=$(cat $knob)
restore() {
	true
}
as $user '' unshare -Ur true 2>/dev/null
could=$?
if [ -w $knob ]; then
	# whatever becomes of this test, the pipe's end puts the number back
	exec 9> >(exec setsid sh -c 'trap "" INT TERM HUP QUIT
		cat >/dev/null; echo "$1" >"$2"' sh "$was" $knob)
	restore() {
		echo "$was" >$knob
	}
	trap restore EXIT
	trap 'exit 1' INT TERM HUP QUIT
	echo 0 >$knob
	ok $? "user namespaces are switched off"
else
	mkdir $house/all && mount -n --rbind / $house/all || exit 1
	jail=(chroot $house/all)
	n=$((n + 1))
	echo "ok $n - user namespaces are switched off # SKIP root may not" \
	    "write $knob here; a chroot takes its place"
fi
as $user '' unshare -Ur true 2>$house/log
[ $? != 0 ]
ok $? "this user gets no user namespace (before: status $could)" $house/log

LEFT_UIDS=$first-$((first + 31)) "$here/libleft.py" save $house/before

# --- exec --------------------------------------------------------------------

as $user $gid "$client" exec --json -- sh -c 'id -u; id -G' >$house/out \
    2>$house/log
is $? 0 "a command"
seen='all(d["protections"][k] is True for k in
    ("uid", "net", "mount", "pid", "ipc", "seccomp"))'
is "$(ask $house/out "$seen")" True "its protections were all seen"
is "$(ask $house/out 'd["protections"]["rules"][:7]')" sha256: \
    "by the rules that were compiled"
is "$(ask $house/out "[$first <= int(w) < $first + 32
    for w in d['stdout'].split()]")" "[True, True]" \
    "it had a uid and a group of this user's slots, and no other"
is "$(ask $house/out 'd["separation"]')" users+namespaces "its separation"

# --- run ---------------------------------------------------------------------

for env in $house/examples/*/; do
	example=$(basename "$env")
	for answer in "$env"answers/* "$env"reference_solution*; do
		[ -e "$answer" ] || continue
		name=$(basename "$answer")
		as $user $gid "$client" run "$env" --answer "$answer" --json \
		    >$house/out 2>$house/log
		st=$?
		case $name in
		reference*)	want='0 passed True 1' ;;
		*)		want=$(awk -F '\t' -v e="$example" -v a="$name" '
			$1 == e && $2 == a && $3 == "passed" {
				print "0 passed True " $4 }
			$1 == e && $2 == a && $3 == "failed" {
				print "1 failed False " $4 }' \
			$house/examples/expected.tsv) ;;
		esac
		is "$st $(ask $house/out '"%s %s %.4g" % (d["verdict"],
		    d["passed"], d["score"])')" "$want" "$example: $name"
		is "$(ask $house/out "[$seen, d['separation'], d['mode']]")" \
		    "[True, 'users+namespaces', 'local']" \
		    "$example: $name: protections"
	done
done
ls $house/examples/*/answers | grep -q . && [ $n -gt 40 ]
ok $? "there were examples"

# --- who may not -------------------------------------------------------------

none() {	# WORDS NAME: no verdict, from the last run
	is "$st $(ask $house/out '[d["failure_kind"], d["failure_reason"],
	    "score" in d]')" "3 $1" "$2"
}
env=$house/examples/two_sum
right=$env/answers/right_table.py
as $user '' "$client" run $env --answer $right --json >$house/out 2>$house/log
st=$?
none "['setup', 'helper_start', False]" "a user who is not in the group"
as 5000 $gid "$client" run $env --answer $right --json >$house/out 2>$house/log
st=$?
none "['setup', 'caller_not_allowed', False]" "one whom the rules don't name"
as $user $gid setpriv --no-new-privs "$client" run $env --answer $right \
    --json >$house/out 2>$house/log
st=$?
none "['setup', 'helper_not_root', False]" "under no_new_privs"
as $user $gid "$client" exec -- true
is $? 0 "control: the same user, with all of it"

# --- afterwards --------------------------------------------------------------

sleep 0.2
LEFT_UIDS=$first-$((first + 31)) "$here/libleft.py" diff $house/before \
    >$house/log
ok $? "nothing is left" $house/log
is "$(ls -A $house/open)" "" "no file either"
restore
is "$(cat $knob)" "$was" "the number of user namespaces is as before"
echo "1..$n"
