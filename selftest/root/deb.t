#!/bin/bash
# The Debian packages: built, linted, installed in an overlay of this machine
# that is a root file system of its own, used there by ordinary users, upgraded,
# removed and purged; and of it all nothing is left.
set -u

# shellcheck source=selftest/payload/tap.sh
. selftest/payload/tap.sh
if [ "${1-}" != inside ]; then
	case ${BUILD-} in
	*san|*cov) echo "1..0 # SKIP packages are release builds"; exit 0 ;;
	esac
	for tool in dpkg-buildpackage dh lintian fakeroot unshare; do
		command -v $tool >/dev/null && continue
		echo "1..0 # SKIP $tool is not installed"
		exit 0
	done
	exec unshare -m --propagation private -- "$0" inside
fi

# --- built ---------------------------------------------------------------------

house=
for dir in /media /mnt /srv /opt; do
	[ -d $dir ] && [ ! -L $dir ] && house=$dir && break
done
umask 022
mount -n -t tmpfs -o mode=755 deb.t $house || exit 1
log=$house/log
env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make deb >$log 2>&1
ok $? "make deb" <(tail -n 20 $log)
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
is "$(sed -n 's/^#define BL_RELEASE "\(.*\)"/\1/p' client/main.c)" "$version" \
    "the packages have the version of the program"
debs=(build/deb/{bailiff,libbailiff0,libbailiff-dev}_"$version"_*.deb)
is "${#debs[@]}" 3 "three packages"
lintian --allow-root --fail-on error build/deb/*.changes >$log 2>&1
ok $? "lintian has no error" $log
grep -q '^E:' $log
is $? 1 "and shows none"
sed 's/^/# /' $log
dpkg-deb -f "${debs[0]}" Static-Built-Using | grep -q glibc
is $? 0 "it is said what was linked into it"
mkdir $house/debs
cp "${debs[@]}" $house/debs/ || exit 1

# --- a machine for it --------------------------------------------------------------

root=$house/root
mkdir $house/up $house/work $root
if ! mount -n -t overlay -o "lowerdir=/,upperdir=$house/up,workdir=$house/work" \
    deb.t $root 2>$log; then
	skip "installing" "no overlay of this machine: $(head -n 1 $log)"
	echo "1..$n"
	exit 0
fi
mount -n -t tmpfs -o mode=755 run $root/run &&
    mount -n -t tmpfs -o mode=1777 tmp $root/tmp &&
    mount -n --rbind /dev $root/dev && mount -n --rbind /sys $root/sys &&
    mkdir $root/tmp/debs $root/run/lock && cp $house/debs/* $root/tmp/debs/ || exit 1
cp -r examples/two_sum $root/tmp/two_sum || exit 1
cat >$house/do <<'EOF'
# in the overlay: its root is this process's only one
cd "$1" && pivot_root . mnt && cd / && mount -n -t proc proc /proc &&
    umount -n -l /mnt || exit 99
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root
export DEBIAN_FRONTEND=noninteractive
unset XDG_CONFIG_HOME BAILIFF_HELPER BAILIFF_SOCKET
exec bash -c "$2"
EOF
do_() {		# TEXT: bash in the overlay; $st, and its output in $log
	unshare -m -p -u -i -n -f bash $house/do $root "$1" >$log 2>&1 </dev/null
	st=$?
}
new() {		# what the overlay has that this machine does not
	(cd $house/up && find . -mindepth 1 ! -type c | sed 's/^\.//' | sort |
	    while IFS= read -r f; do
		[ -e "$f" ] || [ -L "$f" ] || printf '%s\n' "$f"
	    done)
}
gone() {	# what this machine has that the overlay has not; man-db tidies up
	(cd $house/up && find . -type c | sed 's/^\.//' |
	    grep -v '^/var/cache/man/' | sort)
}

# Another bailiff of this machine's is not what is tried here.
do_ 'dpkg --purge bailiff libbailiff-dev libbailiff0 2>/dev/null
    groupdel bailiff 2>/dev/null; rm -rf /etc/bailiff /usr/local/bin/bailiff*
    rm -rf /usr/local/libexec/bailiff
    useradd -M -u 1777 member && useradd -M -u 1778 stranger &&
    grep -q ^member: /etc/passwd'
is $st 0 "a machine with two users and without bailiff"
[ $st = 0 ] || { sed 's/^/# /' $log; echo "1..$n"; exit 1; }
new >$house/before
gone >$house/gone

# --- installed -----------------------------------------------------------------------

do_ 'dpkg -i /tmp/debs/*.deb'
ok $st "dpkg -i" $log
grep -E 'was not compiled|warning|error' $log
is $? 1 "without a warning"
helper=/usr/libexec/bailiff/bailiff-helper
do_ "stat -c '%a %U:%G' $helper /etc/bailiff/policy /etc/bailiff/rules"
is "$(cat $log)" "4750 root:bailiff
644 root:root
644 root:root" "owners and modes of the helper, the policy and the rules"
do_ 'dpkg --verify bailiff libbailiff0 libbailiff-dev; dpkg --audit'
is "$st $(cat $log)" "0 " "dpkg finds nothing wrong"
do_ 'for p in bailiff bailiff-helper bailiff-rules; do man -w $p; done
    whatis bailiff'
like "$(cat $log)" '/usr/share/man/man1/bailiff.1.gz
/usr/share/man/man8/bailiff-helper.8.gz
/usr/share/man/man(5/bailiff-rules.5|8/bailiff-rules.8).gz
bailiff \(1\) .*' "the manual finds its pages"
do_ 'for u in sockets.target.wants multi-user.target.wants; do
    ls /etc/systemd/system/$u; done 2>/dev/null | grep bailiff'
is "$(cat $log)" "" "no unit is enabled"

# --- used ----------------------------------------------------------------------------

as='as() { setpriv --reuid="$1" --regid="$1" --init-groups env -i \
    PATH=/usr/bin:/bin HOME=/nonexistent "${@:2}"; }; '
do_ 'adduser --quiet member bailiff && '"$as"'as member bailiff exec -- /bin/true'
ok $st "a member of the group: bailiff exec -- /bin/true" $log
do_ "$as"'as member bailiff exec --json -- id -u'
is "$(python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(d["protections"]["rules"][:7], 1879113728 < int(d["stdout"]) < 1879179264)' \
    $log 2>&1)" "sha256: True" "by the compiled rules, as a user of their range"
do_ "$as"'as member bailiff run /tmp/two_sum \
    --answer /tmp/two_sum/answers/right_table.py'
is "$st $(head -n 1 $log)" "0 passed, score 1" "an example's right answer"
do_ "$as"'e=/usr/share/doc/bailiff/examples/two_sum
    for a in $e/answers/wrong*; do as member bailiff run $e --answer $a; done'
is "$st" 1 "a wrong one, of the package's own examples"
do_ "$as"'as stranger bailiff exec -- /bin/true'
is $st 125 "who is not in the group: refused"
grep -q 'adduser USER bailiff' $log
ok $? "and told what to do" $log
do_ 'bailiff exec -- /bin/true'
ok $st "root" $log
do_ 'echo "#include <bailiff.h>
int main(void) { struct bailiff_command c; bailiff_command_init(&c); return 7; }" \
    >/tmp/a.c && gcc -o /tmp/a /tmp/a.c $(pkg-config --cflags --libs bailiff) &&
    /tmp/a'
is $st 7 "a program with the library, by pkg-config"

# --- what the administrator changes stays -----------------------------------------------

do_ 'sed -i "s/slots 32/slots 31/" /etc/bailiff/policy &&
    dpkg-statoverride --update --add root root 0755 '$helper' &&
    dpkg --force-confold -i /tmp/debs/bailiff_*.deb &&
    stat -c "%a %U:%G" '$helper' && grep -c "slots 31" /etc/bailiff/policy'
is "$st $(tail -n 2 $log)" "0 755 root:root
1" "an upgrade keeps the policy, and the owner and mode by dpkg-statoverride"
do_ 'sha256sum </etc/bailiff/policy | cut -c-64; '"$as"'
    dpkg-statoverride --remove '$helper' && dpkg-reconfigure bailiff &&
    as member bailiff exec --json -- true'
is "$(sed -n 's/.*"rules":"sha256[:-]*\([0-9a-f]*\)".*/\1/p' $log)" \
    "$(head -n 1 $log)" "the changed policy is in force, the helper's mode is back"
do_ 'echo nonsense >>/etc/bailiff/policy; dpkg-reconfigure bailiff'
is $st 0 "a policy that is wrong does not stop dpkg"
grep -q '^bailiff-rules compile /etc/bailiff/policy' $log
ok $? "and it says what to do" $log

do_ 'systemctl enable bailiff.socket && ls /etc/systemd/system/sockets.target.wants'
like "$(cat $log)" "(.*"$'\n'")?bailiff.socket("$'\n'".*)?" "the socket can be enabled"

# --- gone ----------------------------------------------------------------------------

do_ 'dpkg --remove libbailiff-dev libbailiff0 bailiff && ls /etc/bailiff'
is "$st $(tail -n 1 $log)" "0 policy" "removed: the policy stays"
do_ 'dpkg --purge bailiff && ls -d /etc/bailiff /run/bailiff'
grep -q 'cannot access ./etc/bailiff' $log
ok $? "purged" $log
# two cells could have one lock, if it went while a cell holds it
grep -qx /run/bailiff $log
ok $? "purged: the locks' folder stays" $log
do_ 'getent group bailiff'
is "$(cat $log)" "bailiff:x:$(cut -d: -f3 $log):member" \
    "the group stays while it has a member"
do_ 'gpasswd -d member bailiff && dpkg -i /tmp/debs/bailiff_*.deb &&
    bailiff exec -- true && dpkg --purge bailiff && getent group bailiff'
is $st 2 "and goes with the next purge when it has none"
# dpkg's own, which every package leaves
own='^/var/(log|cache|lib/dpkg)/|^/etc/(passwd|group|g?shadow|sub[ug]id)-$|/ld.so.cache'
new | grep -Ev "$own" >$house/after
grep -Ev "$own" $house/before >$house/earlier
is "$(diff $house/earlier $house/after)" "" "no file is left"
is "$(gone | diff $house/gone -)" "" "and none is missing"
do_ 'getent passwd; getent group'
grep -q bailiff $log
is $? 1 "no user and no group"

# --- make install on the same machine ---------------------------------------------------

do_ 'exit 0'
B=${BUILD:-build/release}
if [ $st = 0 ] && mkdir $root/tmp/src && mount -n --bind . $root/tmp/src; then
	made=(bailiff bailiff-helper bailiff-rules libbailiff.a libbailiff.so)
	prefix=$(grep -aom1 '/[[:print:]]*/libexec/bailiff/bailiff-helper' \
	    "$B/bailiff")
	prefix=${prefix%/libexec/*}
	mk="make -s B=$B PREFIX=$prefix ${made[*]/#/-o$B/}"
	do_ "cd /tmp/src && $mk install &&
	    stat -c '%a %U:%G' $prefix/libexec/bailiff/bailiff-helper"
	is "$st $(tail -n 1 $log)" "0 4750 root:bailiff" "make install, as root"
	do_ 'adduser --quiet member bailiff && '"$as"'as member env \
	    PATH='"$prefix"'/bin:/usr/bin:/bin bailiff exec -- /bin/true'
	ok $st "a member of the group: bailiff exec -- /bin/true" $log
	list=/var/lib/dpkg/info/bailiff.list
	do_ "cd /tmp/src && touch $list && $mk install"
	is "$st $(grep -c 'package bailiff is installed too' $log)" "0 1" \
	    "make install with the package there says so"
	do_ "cd /tmp/src && $mk uninstall && ls /etc/bailiff; rm $list"
	is "$st $(grep -c stays: $log) $(grep -c 'was changed' $log)" "0 1 0" \
	    "and make uninstall leaves /etc/bailiff alone, and does not judge it"
	do_ "cd /tmp/src && $mk install && $mk uninstall && groupdel bailiff"
	ok $st "make uninstall" $log
	new | grep -Ev "$own" | comm -13 $house/earlier - |
	    while IFS= read -r f; do
		[ -d "$house/up$f" ] || printf '%s\n' "$f"
	    done >$house/after
	is "$(cat $house/after)" "" "no file is left"
fi
echo "1..$n"
