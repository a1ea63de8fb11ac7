#!/bin/bash
# make install and make uninstall: each file with its mode, nothing of the
# administrator's overwritten, nothing left; and the units and what pkg-config
# says, as they were installed.
set -u

B=${BUILD:-build/release}
# shellcheck source=selftest/payload/tap.sh
. selftest/payload/tap.sh
case $B in
*san|*cov) echo "1..0 # SKIP only a release build is installed"; exit 0 ;;
esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

# the prefix of this build, so that nothing is built again
helper=$(grep -aom1 '/[[:print:]]*/libexec/bailiff/bailiff-helper' "$B/bailiff")
prefix=${helper%/libexec/*}
p=${prefix#/}
made=(bailiff bailiff-helper bailiff-rules libbailiff.a libbailiff.so)
as=()
mk() {		# WORD...: make, of what is already built
	${as[@]+"${as[@]}"} env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s \
	    "B=$B" "PREFIX=$prefix" "${made[@]/#/-o$B/}" "$@" >"$work/log" 2>&1
}
tree() {	# DIR: what is there but folders: mode and name
	(cd "$1" && find . ! -type d -printf '%m %P\n' | sort -k 2)
}
files() {	# HELPER_MODE
	sort -k 2 <<EOF
644 etc/bailiff/policy
644 etc/bailiff/rules
755 $p/bin/bailiff
755 $p/bin/bailiff-rules
644 $p/include/bailiff.h
644 $p/lib/libbailiff.a
777 $p/lib/libbailiff.so
644 $p/lib/libbailiff.so.0
644 $p/lib/pkgconfig/bailiff.pc
644 $p/lib/systemd/system/bailiff-audit.service
644 $p/lib/systemd/system/bailiff-audit.socket
644 $p/lib/systemd/system/bailiff.socket
644 $p/lib/systemd/system/bailiff@.service
755 $p/libexec/bailiff/bailiff-audit
$1 $p/libexec/bailiff/bailiff-helper
644 $p/share/bailiff/apparmor.d/bailiff
644 $p/share/bash-completion/completions/bailiff
644 $p/share/fish/vendor_completions.d/bailiff.fish
644 $p/share/man/man1/bailiff.1
644 $p/share/man/man5/bailiff-rules.5
644 $p/share/man/man8/bailiff-helper.8
644 $p/share/man/man8/bailiff-rules.8
644 $p/share/zsh/site-functions/_bailiff
EOF
}
round() {	# NAME DESTDIR HELPER_MODE [WORD...]: there and back
	local name=$1 d=$2 mode=$3
	shift 3
	mk install DESTDIR="$d" "$@"
	ok $? "$name: make install" "$work/log"
	is "$(tree "$d")" "$(files "$mode")" "$name: its files and their modes"
	is "$(find "$d" -mindepth 1 -type d ! -perm 755)" "" \
	    "$name: its folders can be read by everyone"
	mk uninstall DESTDIR="$d"
	ok $? "$name: make uninstall" "$work/log"
	is "$(cd "$d" && find . -mindepth 1)" "" "$name: nothing is left"
}

# --- as whoever runs this -----------------------------------------------------

umask 022
mode=755
[ "$(id -u)" != 0 ] || ! getent group bailiff >/dev/null || mode=4750
mkdir "$work/a"
round "DESTDIR" "$work/a" $mode
umask 077
mkdir "$work/with two  blanks and 'quotes'"
round "blanks and quotes in DESTDIR" "$work/with two  blanks and 'quotes'" $mode
mkdir "$work/none"
round "HELPER_MODE=none" "$work/none" 755 HELPER_MODE=none
mk install DESTDIR="$work/none" HELPER_MODE=setgid
[ $? != 0 ]
ok $? "a HELPER_MODE that there isn't is refused"
is "$(find "$work/none" -mindepth 1)" "" "and nothing was installed"

# --- the administrator's --------------------------------------------------------

mkdir -p "$work/b/etc/bailiff" "$work/b/$p/share/man/man1"
sed 's/slots 32/slots 31/' policy/default.policy >"$work/b/etc/bailiff/policy"
touch "$work/b/$p/share/man/man1/other.1"
before=$(sha256sum <"$work/b/etc/bailiff/policy")
mk install DESTDIR="$work/b"
ok $? "over a policy of the administrator's" "$work/log"
is "$(sha256sum <"$work/b/etc/bailiff/policy")" "$before" "it is as it was"
mk install DESTDIR="$work/b"
ok $? "a second time" "$work/log"
mk uninstall DESTDIR="$work/b"
is "$(cd "$work/b" && find . -type f | sort)" "./etc/bailiff/policy
./$p/share/man/man1/other.1" "after make uninstall that policy and what is others' stay"
is "$(grep -c 'policy was changed, and stays' "$work/log")" 1 "and it says so"

# --- as an ordinary user --------------------------------------------------------

umask 022
if [ "$(id -u)" = 0 ] && ! command -v setpriv >/dev/null; then
	skip "as an ordinary user" "no setpriv"
else
	[ "$(id -u)" != 0 ] ||
		as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	mkdir "$work/user"
	[ "$(id -u)" != 0 ] || chown 65534:65534 "$work/user" "$work/log"
	if ${as[@]+"${as[@]}"} cat "$B/gen/bailiff.pc" Makefile >/dev/null; then
		round "an ordinary user" "$work/user" 755
	else
		skip "as an ordinary user" "who can't read this folder"
	fi
	as=()
fi

# --- owners and rights ----------------------------------------------------------

if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	cat >"$work/group" <<'EOF'
cp /etc/group "$work/etc-group" &&
    sed -i /^bailiff:/d "$work/etc-group" &&
    echo bailiff:x:4321: >>"$work/etc-group" &&
    mount -n --bind "$work/etc-group" /etc/group || exit 1
mkdir "$work/g" "$work/caps"
round "with the group" "$work/g" 4750
mk install DESTDIR="$work/g"
is "$(stat -c '%a %u:%g' "$work/g$helper")" "4750 0:4321" "the helper's owner"
mk install DESTDIR="$work/caps" HELPER_MODE=caps
st=$?
if [ $st != 0 ] && grep -q 'not supported' "$work/log"; then
	skip "HELPER_MODE=caps" "no file capabilities on this file system"
else
	ok $st "HELPER_MODE=caps" "$work/log"
	is "$(stat -c '%a %u:%g' "$work/caps$helper")" "750 0:4321" \
	    "its owner and mode"
	is "$(getcap "$work/caps$helper" | sed 's/.* //')" \
	    "cap_chown,cap_kill,cap_setgid,cap_setuid,cap_setpcap,cap_net_admin,cap_sys_admin,cap_sys_nice,cap_sys_resource,cap_mknod=ep" \
	    "its capabilities"
fi
mkdir "$work/bin" "$work/failed"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/setcap"
chmod 755 "$work/bin/setcap"
PATH=$work/bin:$PATH mk install DESTDIR="$work/failed" HELPER_MODE=caps
is "$? $(find "$work/failed" -path '*/libexec/*helper*')" "2 " \
    "a setcap that fails leaves no half-made helper"
touch "$work/g$helper.new"
mk uninstall DESTDIR="$work/g"
is "$? $(find "$work/g" -name '*.new')" "0 " "nor does uninstall leave one"
echo $n >"$work/n"
EOF
	export work prefix B helper p
	export -f ok is like skip mk tree files round
	made_words=${made[*]}
	export made_words
	unshare -m --propagation private bash -c 'n=$1; as=()
	    read -ra made <<<"$made_words"; . "$work/group"' bash $n
	n=$(cat "$work/n")
else
	skip "the helper's owner and rights" "needs root"
fi

# --- two installations, one /etc -------------------------------------------------

if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null && [ -d /opt ]; then
	cat >"$work/two" <<'EOF'
mkdir "$work/etc" && mount -n -t tmpfs two "$work/etc" &&
    mkdir "$work/etc/up" "$work/etc/work" && mount -n -t overlay -o \
    "lowerdir=/etc,upperdir=$work/etc/up,workdir=$work/etc/work" two /etc &&
    rm -rf /etc/bailiff && mkdir /etc/bailiff &&
    mount -n -t tmpfs two /opt && mount -n -t tmpfs two /usr/local || exit 99
of=libexec/bailiff/bailiff-helper
install -D /dev/null /opt/bz/$of
install -D /dev/null /usr/local/$of
touch /etc/bailiff/rules
cp policy/default.policy /etc/bailiff/policy
mk uninstall PREFIX=/opt/bz
ok $? "make uninstall beside another installation" "$work/log"
is "$(cd /etc/bailiff && echo *)" "policy rules" "it leaves their rules"
is "$(grep -c "/etc/bailiff stays: it is another's" "$work/log")" 1 \
    "and says so"
is "$(ls /opt/bz/$of /usr/local/$of 2>/dev/null)" /usr/local/$of \
    "and takes its own helper away"
install -D /dev/null /opt/bz/$of
rm /usr/local/$of
[ -e /usr/$of ] || {
	mk uninstall PREFIX=/opt/bz
	is "$(ls -d /etc/bailiff 2>/dev/null)" "" "control: the last one takes them"
}
echo $n >"$work/n"
EOF
	export -f ok is mk
	export work B prefix made_words=${made[*]}
	unshare -m --propagation private bash -c 'n=$1; as=()
	    read -ra made <<<"$made_words"; . "$work/two"' bash $n 2>"$work/err"
	case $? in
	99)	skip "two installations" "no overlay can be put over /etc" ;;
	*)	n=$(cat "$work/n") ;;
	esac
else
	skip "two installations, one /etc" "needs root"
fi

# --- what was installed works -----------------------------------------------------

d=$work/use
mkdir "$d"
mk install DESTDIR="$d" HELPER_MODE=none
is "$("$d$prefix/bin/bailiff" --version)" "$("$B/bailiff" --version)" \
    "bailiff is this build"
for f in "lib/systemd/system/bailiff@.service" share/man/man8/bailiff-helper.8 \
    share/bailiff/apparmor.d/bailiff lib/pkgconfig/bailiff.pc; do
	grep -q '@[A-Z]\+@' "$d$prefix/$f"
	is $? 1 "$f: every path is filled in"
done
cat >"$work/use.c" <<'EOF'
#include <bailiff.h>
int main(void) { struct bailiff_command c; bailiff_command_init(&c); return 7; }
EOF
pc() {
	PKG_CONFIG_PATH=$d$prefix/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$d \
	    pkg-config "$@" bailiff
}
if command -v pkg-config >/dev/null; then
	# shellcheck disable=SC2046
	gcc -o "$work/shared" "$work/use.c" $(pc --cflags --libs) 2>"$work/log" &&
		LD_LIBRARY_PATH=$d$prefix/lib "$work/shared"
	is $? 7 "a program with the shared library, by pkg-config"
	# shellcheck disable=SC2046
	gcc -o "$work/static" "$work/use.c" $(pc --cflags) \
	    "$d$prefix/lib/libbailiff.a" \
	    $(pc --static --libs-only-l | sed 's/-lbailiff//') 2>"$work/log" &&
		"$work/static"
	is $? 7 "and with the static one"
else
	skip "a program by pkg-config" "pkg-config is not installed"
fi

# --- the units -------------------------------------------------------------------

unit=$d$prefix/lib/systemd/system
if command -v systemd-analyze >/dev/null; then
	mkdir "$work/units"
	cp "$unit/bailiff.socket" "$work/units"
	sed "s,^ExecStart=.*,ExecStart=$d$helper," "$unit/bailiff@.service" \
	    >"$work/units/bailiff@.service"
	verify() {
		SYSTEMD_LOG_LEVEL=warning systemd-analyze --man=no verify \
		    "$work/units/bailiff.socket" "$work/units/bailiff@.service" \
		    >"$work/log" 2>&1
	}
	verify
	st=$?
	is "$st $(cat "$work/log")" "0 " "systemd-analyze verify: nothing to say"
	echo 'Acept=yes' >>"$work/units/bailiff.socket"
	verify
	is "$(grep -c Acept "$work/log")" 1 "and it would see: a key that it doesn't know"
else
	skip "systemd-analyze verify" "systemd-analyze is not installed"
fi
# options that would be the cells' as well, or take the host's files from them
bad='Private(Tmp|Devices|Network|Users|IPC|Mounts)|Protect[A-Z][A-Za-z]*|
ReadOnlyPaths|ReadWritePaths|InaccessiblePaths|TemporaryFileSystem|Bind[A-Za-z]*|
RootDirectory|RootImage|Mount[A-Z][A-Za-z]*|DynamicUser|ProcSubset|
SystemCall[A-Z][A-Za-z]*|Restrict[A-Z][A-Za-z]*|LockPersonality|
MemoryDenyWriteExecute|RuntimeDirectory|IPAddress[A-Z][a-z]*'
is "$(grep -E "^(${bad//$'\n'/})=" "$unit/bailiff@.service")" "" \
    "no option that cells would inherit"
is "$(sed -n 's/^ExecStart=//p' "$unit/bailiff@.service")" "$helper" \
    "the helper, without arguments"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	caps=$(sed -n 's/^CapabilityBoundingSet=//p' "$unit/bailiff@.service" |
	    tr '\n' ' ' | tr A-Z a-z | sed 's/cap_/+/g; s/ *$//; s/ /,/g')
	setpriv --bounding-set="-all,$caps" --inh-caps=-all --no-new-privs \
	    "$B/bailiff" exec -- true 2>"$work/log"
	ok $? "a cell is made within the unit's capabilities" "$work/log"
	setpriv --bounding-set="-all,${caps/+sys_admin,/}" --inh-caps=-all \
	    "$B/bailiff" exec -- true 2>"$work/log"
	is $? 125 "control: and not with one less"
else
	skip "a cell within the unit's capabilities" "needs root"
fi
if command -v apparmor_parser >/dev/null; then
	# what an AppArmor older than the rule can read of it
	sed -e '/^abi/d' -e '/^  userns,/d' \
	    "$d$prefix/share/bailiff/apparmor.d/bailiff" >"$work/profile"
	apparmor_parser -QTK "$work/profile" >"$work/log" 2>&1
	ok $? "AppArmor reads the profile, but for what is new in it" "$work/log"
else
	skip "AppArmor reads the profile" "apparmor_parser is not installed"
fi
echo "1..$n"
