# What the tests of the installed helper share.  Sourced from the top folder,
# first thing.  Each test works in a mount namespace of its own, with rules,
# slot locks and a copy of the helper that nobody else sees, and with user
# numbers for its cells that no other test has.
# shellcheck shell=bash disable=SC2034
set -u

whole=$(pwd)
if [ "$(id -u)" != 0 ]; then
	echo "1..0 # SKIP needs root, to install a helper with its set-user-id bit"
	exit 0
fi
if [ -z "${BL_PRIVATE-}" ]; then
	if ! unshare -m -u --propagation private true 2>/dev/null; then
		echo "1..0 # SKIP no namespaces can be made here"
		exit 0
	fi
	S=$(mktemp -d /var/lib/bailiff-test.XXXXXX) || exit 1
	trap 'rmdir "$S"' EXIT
	BL_PRIVATE=$S BUILD=$(realpath "${BUILD:-build/release}") \
	    unshare -m -u --propagation private bash "$0" "$@"
	exit
fi

S=$BL_PRIVATE				# root's all the way up, mode 0755
unset BL_PRIVATE DAYTONA_API_KEY
if ! { chmod 755 "$S" && mount -t tmpfs -o mode=0755 tmpfs "$S" &&
    mount -t tmpfs -o mode=0755 tmpfs /run &&
    mkdir "$S/etc.up" "$S/etc.work"; }; then
	echo "1..0 # SKIP no tmpfs can be mounted here"
	exit 0
fi
# An /etc of its own, so that nothing is made in the machine's.
if ! mount -t overlay -o \
    "lowerdir=/etc,upperdir=$S/etc.up,workdir=$S/etc.work" overlay /etc \
    2>/dev/null && [ ! -d /etc/bailiff ]; then
	echo "1..0 # SKIP there is neither /etc/bailiff nor an overlay for it"
	exit 0
fi
mkdir -p /etc/bailiff
mount -t tmpfs -o mode=0755 tmpfs /etc/bailiff || exit 1

export LC_ALL=C.UTF-8
ALICE=1234 BOB=4321 GROUP=5678		# numbers; they have no names here
BASE=$((1900000000 + $$ % 2000 * 100000))	# of this test's cells alone
COUNT=1024
H=$S/bailiff-helper
C=$S/bailiff
work=$S/work
mkdir -m 755 "$work" && mkdir -m 1777 "$work/open"
cp "$BUILD/bailiff" "$C"
if [ ! -e "$C" ] || ! install -o root -g $GROUP -m 4750 \
    "$BUILD/bailiff-helper" "$H"; then
	echo "1..0 # SKIP there is no build in $BUILD"
	exit 0
fi
# The same rights by file capabilities: for ways_cases.t.
if [ "${BL_WAY-}" = capabilities ]; then
	list=cap_setuid,cap_setgid,cap_kill,cap_sys_admin,cap_net_admin,cap_mknod
	list+=,cap_chown,cap_setpcap
	bound=$((16#$(awk '/^CapBnd/ { print $2 }' /proc/self/status)))
	[ $((bound >> 23 & 1)) = 0 ] || list+=,cap_sys_nice
	[ $((bound >> 24 & 1)) = 0 ] || list+=,cap_sys_resource
	chmod 0750 "$H" && setcap $list=ep "$H" || exit 1
fi

# --- TAP -------------------------------------------------------------------

# shellcheck source=selftest/payload/tap.sh
. selftest/payload/tap.sh

done_testing() {
	echo "1..$n"
}

# A suite of the lying client, with alice as the caller: its tests are ours.
# What is known not to hold, and is said in SECURITY.md: TAP's own mark, so that it
# is printed each time and noticed when it does hold.
known=()
known() {	# TEXT-OF-THE-NAME REASON
	known+=("$1" "$2")
}
why_known() {
	local i
	for ((i = 0; i < ${#known[@]}; i += 2)); do
		[[ $1 == *"${known[i]}"* ]] && echo " # TODO ${known[i + 1]}" && return
	done
}

hostile() {	# SUITE [WORD...]
	local line st
	"$BUILD/hostile" "$H" $ALICE $GROUP "$@" >"$work/tap" 2>"$work/tap.err"
	st=$?
	while IFS= read -r line; do
		case $line in
		"ok "*)	n=$((n + 1))
			echo "ok $n${line##ok +([0-9])}" ;;
		"not ok "*) n=$((n + 1))
			echo "not ok $n${line##not ok +([0-9])}$(why_known "$line")" ;;
		1..*)	;;
		"Bail out!"*) echo "# $line" ;;	# of this suite alone
		*)	echo "$line" ;;
		esac
	done <"$work/tap"
	[ $st -le 1 ] && grep -q '^1\.\.' "$work/tap"
	ok $? "hostile $1: came to its end" "$work/tap.err"
}
shopt -s extglob

build() {	# NAME OPTION...: $S/NAME from a payload
	local name=$1
	shift
	cc -O1 -Wall -Werror -o "$S/$name" "selftest/payload/$name.c" "$@"
}

# --- callers ---------------------------------------------------------------

# As a user with nothing but the helper's group.
as() {		# UID COMMAND...
	(begin "$@")
}

# The same for the background: $! is the command's own number.
begin() {	# UID COMMAND...
	local uid=$1
	shift
	exec setpriv --reuid="$uid" --regid="$uid" --groups=$GROUP env -i \
	    PATH=/usr/local/bin:/usr/bin:/bin BAILIFF_HELPER="$H" \
	    XDG_CONFIG_HOME=/none HOME=/ "$@"
}

# bailiff exec --json by alice: the object in out, its status in st.
cell() {	# [exec options] -- COMMAND...
	as $ALICE "$C" exec --json "$@" >"$work/out" 2>"$work/err" </dev/null
	st=$?
}

# The last object, asked by a Python expression over d.
ask() {
	ask_of "$work/out" "$1"
}

# STATUS CODE STEP of an exec --json that could not be.
why() {
	echo "$st $(ask '"%s %s" % (d["error"]["code"], d["error"]["step"])')"
}

# --- rules -----------------------------------------------------------------

# $work/rules.src: lines from stdin, and what cells see; compiled and installed.
rules() {
	{ echo "uids $BASE count $COUNT"; cat
	    grep '^show' policy/default.policy; } >"$work/rules.src"
	"$BUILD/bailiff-rules" compile "$work/rules.src" -o /etc/bailiff/rules
}
usual() {
	rules <<END
caller 0 slots 64 memory 8g pids 4096 disk 4g fsize 4g wall 1h
caller $ALICE slots 64 memory 8g pids 4096 disk 4g fsize 4g wall 1h
caller $BOB slots 64 memory 8g pids 4096 disk 4g fsize 4g wall 1h
END
}

# --- what is left ----------------------------------------------------------

# Processes of this test's cells, and those that run its helper.
left() {
	ps -eo uid= -o pid= -o stat= -o args= |
	    awk -v a=$BASE -v b=$((BASE + COUNT)) '$1 >= a && $1 < b'
	find /proc -maxdepth 2 -path '/proc/[0-9]*/exe' -lname "$H*" 2>/dev/null
}

# Nothing of a run is there any more, two seconds after its end at the latest.
nothing_left() {	# NAME
	local i
	for i in {1..20}; do
		left >"$work/left"
		[ -s "$work/left" ] || break
		sleep 0.1
	done
	[ ! -s "$work/left" ]
	ok $? "$1" "$work/left"
}

usual || { echo "Bail out! the rules can't be compiled"; exit 1; }
