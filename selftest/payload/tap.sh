# What TAP needs of a shell test.  Sourced from the top folder by cell.sh and
# setuid.sh; the test prints its own plan from n.
# shellcheck shell=bash disable=SC2034
n=0
slow=${BL_SLOW:-1}	# times that a bound is wider, on an emulated processor

ok() {		# STATUS NAME [FILE...]: files to show where it is not
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
		return
	fi
	echo "not ok $n - $2"
	shift 2
	[ $# = 0 ] || head -c 3000 "$@" | sed 's/^/# /'
}

is() {		# GOT WANT NAME
	local good=1
	[ "$1" = "$2" ] && good=0
	ok $good "$3"
	[ $good = 0 ] || printf '%s\n' "got  $1" "want $2" | sed 's/^/# /'
}

like() {	# GOT PATTERN NAME: all of it matches
	local good=1
	[[ $1 =~ ^($2)$ ]] && good=0
	ok $good "$3"
	[ $good = 0 ] || printf '%s\n' "got  $1" "want $2" | sed 's/^/# /'
}

skip() {	# NAME WHY
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

# Results, by a Python expression over d: see asker.py.  In $work.
# One at a time.
asker() {
	local i
	mkfifo -m 600 "$work/ask" "$work/say" &&
	    { /usr/bin/python3 selftest/payload/asker.py "$work/ask" "$work/say" \
		$$ </dev/null >"$work/asker" 2>&1 & } && disown
	for ((i = 0; i < 1000 * slow; i++)); do
		[ -s "$work/asker" ] && return
		sleep 0.02
	done
}
ask_of() {	# FILE EXPRESSION
	local said=
	[ -p "$work/ask" ] || asker
	printf '%s\0%s\0' "$1" "$2" 1<>"$work/ask"	# <>: never waits
	IFS= read -r -t $((20 * slow)) -d '' said <>"$work/say" ||
	    said="nobody has answered: $(tail -n 3 "$work/asker")"
	printf %s "$said"
}
