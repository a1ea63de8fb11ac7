# What the tests of cells share.  Sourced from the top folder; each of them
# runs one payload in a cell and, as its control, where it must succeed.
# shellcheck shell=bash
set -u

B=$(realpath "${BUILD:-build/release}")/bailiff
export PY=/usr/bin/python3
root=0
[ "$(id -u)" = 0 ] && root=1
work=$(mktemp -d) || exit 1
mkdir "$work/p" "$work/open" && cp selftest/payload/*.py "$work/p" || exit 1
chmod 755 "$work" "$work/p" && chmod 1777 "$work/open"
[ -z "${BL_USER-}" ] || chown "$BL_USER" "$work"	# whose runs these are
trap 'rm -rf "$work"' EXIT
unset DAYTONA_API_KEY
export XDG_CONFIG_HOME=$work/no-config PYTHONDONTWRITEBYTECODE=1
if [ -n "${BL_WAY-}" ]; then		# by one way in: see ways_cases.t
	mkdir -p "$work/none/bailiff" &&
	    printf "way = %s\nquiet = yes\n" "$BL_WAY" \
	>"$work/none/bailiff/config" || exit 1
fi

# The payloads are in /p of a cell; options and -- come before the command.
# In a VM the first and the second of two runs are of two users: BL_ONE and
# BL_OTHER are the words that make a command theirs.
cell() {
	# shellcheck disable=SC2086 # words
	${BL_ONE-} "$B" exec -t $((60 * slow)) --ro-bind "$work/p:/p" "$@"
}
others_cell() {
	BL_ONE=${BL_OTHER-} cell "$@"
}

# The same outside, as a user without any right, in a folder of its own.
as_plain=(env -i PATH=/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1)
[ $root = 1 ] && as_plain=(setpriv --reuid=65534 --regid=65534 --clear-groups
    "${as_plain[@]}")
plain() {
	(cd "$work/open" && exec timeout -k 2 $((30 * slow)) "${as_plain[@]}" "$@")
}

# The same, but for the host's folders that all may write to: what is left there
# goes with it.
plain_tmp() {
	if [ $root = 0 ]; then
		plain "$@"
		return
	fi
	# shellcheck disable=SC2016
	(cd "$work/open" && exec timeout -k 2 $((30 * slow)) unshare -m \
	    --propagation private sh -c 'work=$1 && mount --bind "$work" /mnt &&
		for d in /tmp /var/tmp /dev/shm; do
			mount -t tmpfs -o mode=1777 tmp $d || exit
		done && mkdir -p "$work" && mount --bind /mnt "$work" &&
		cd "$work/open" && shift && exec "$@"' sh "$work" \
		"${as_plain[@]}" "$@")
}

# The same as root of throw-away namespaces.
as_space=(unshare -m -n -i -u -p -f --mount-proc --propagation private)
[ $root = 1 ] || as_space+=(-Ur)
space() {
	(cd "$work/open" && exec timeout -k 2 $((30 * slow)) "${as_space[@]}" "$@")
}

build() {	# NAME OPTION...: $work/p/NAME from NAME.c
	local name=$1
	shift
	cc -D_GNU_SOURCE -O1 -Wall -Werror -o "$work/p/$name" "selftest/payload/$name.c" "$@"
}

# shellcheck source=selftest/payload/tap.sh
. selftest/payload/tap.sh

# What a payload said of one thing: its line is "NAME RESULT".
said() {	# FILE NAME
	awk -v name="$2" '$1 == name { sub(/^[^ ]* /, ""); print; exit }' "$work/$1"
}

# The payload's two reports are in $work/in and $work/out.  A result of the
# control that matches the last pattern says that this machine lacks the thing.
both() {	# NAME IN OUT TEXT [LACKING]
	local in out
	in=$(said in "$1")
	out=$(said out "$1")
	n=$((n + 1))
	if ! [[ $in =~ ^($2)$ ]]; then
		printf '%s\n' "not ok $n - $4" "# $1, in the cell: $in" \
		    "# want $2; outside: $out"
	elif [[ $out =~ ^($3)$ ]]; then
		echo "ok $n - $4"
	elif [ -n "${5-}" ] && [ "$out" = ENOSYS ] && [[ ENOSYS =~ ^($5)$ ]]; then
		echo "ok $n - $4; this kernel has none: $out"
	elif [ -n "${5-}" ] && [[ $out =~ ^($5)$ ]]; then
		echo "ok $n - $4 # SKIP its control can't work here: $out"
	else
		printf '%s\n' "not ok $n - $4" "# $1, in the cell: $in" \
		    "# control: $out, want $3"
	fi
}

# A payload that talks: its reports come on fd $from, a line to fd $to lets it
# go on.  hear LINE waits until it has said that.
talk() {	# COMMAND...: $talker is its number, but for a function
	if [ "$(type -t "$1")" = function ]; then
		coproc TALK { "$@" 2>"$work/talk.err"; }
	else
		coproc TALK { exec "$@" 2>"$work/talk.err"; }
	fi
	# shellcheck disable=SC2153 # coproc sets them
	exec {from}<&"${TALK[0]}" {to}>&"${TALK[1]}"
	talker=$TALK_PID
	exec {TALK[0]}<&- {TALK[1]}>&-
}
hear() {	# PATTERN: 0 and the line in $line, or 1
	while IFS= read -r -t $((20 * slow)) -u "$from" line; do
		[[ $line =~ ^($1)$ ]] && return 0
	done
	line=
	return 1
}
tell() {
	echo "$1" >&"$to"
}
hush() {	# FILE: the rest of what it says
	exec {to}>&-
	timeout $((20 * slow)) cat <&"$from" >>"$work/$1"
	exec {from}<&-
	wait "$talker"
} 2>/dev/null		# without bash's word of its signal

done_testing() {
	echo "1..$n"
}

if [ ! -x "$B" ]; then
	echo "# $B is not built"
	exit 1
fi
if ! "$B" exec -- /bin/true 2>"$work/why"; then
	echo "1..0 # SKIP no cells here: $(head -n 1 "$work/why")"
	exit 0
fi
