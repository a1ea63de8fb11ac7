# What the tests of judging share.  Sourced from the top folder.  A judge is
# made by verifier, an answer by answer; run judges the one by the other, in
# cells; alone runs the same two without any: that is the control.
# shellcheck shell=bash
# shellcheck source=selftest/payload/cell.sh
. selftest/payload/cell.sh

top=$PWD
mkdir "$work/v" "$work/a"
asker
usual=$top/selftest/payload/usual.py
if [ "$slow" != 1 ]; then	# it wants its replies within 0.4 s
	sed "s/took < 0\.4/took < 0.4 * $slow/" "$usual" >"$work/usual.py" &&
	    chmod 755 "$work/usual.py"
	usual=$work/usual.py
fi
piped=$top/selftest/payload/piped.py

verifier() {	# NAME: a judge from stdin, in $work/v
	cat >"$work/v/$1"
	chmod 755 "$work/v/$1"
}
answer() {	# NAME: an answer from stdin, in $work/a
	cat >"$work/a/$1"
	chmod 644 "$work/a/$1"
}

run() {		# VERIFIER ANSWER [OPTION...]: result in $work/out, status in st
	local v=$1 a=$2
	shift 2
	[ -e "$v" ] || v=$work/v/$v
	[ -e "$a" ] || a=$work/a/$a
	"$B" run --judge "$v" --answer "$a" --json "$@" \
	    >"$work/out" 2>"$work/err"
	st=$?
}

# The last result, asked by a Python expression over d.
ask() {
	ask_of "$work/out" "$1"
}

# The last result in four words: exit status, verdict, score, and whether it
# is one that a trainer leaves out, or why there is no verdict.
short() {
	ask_of "$work/out" 'short(d)'
}
zero="1 failed 0.0 False"
full="0 passed 1.0 False"

# The last run ended so, and no word of the result is of another kind.
gives() {	# WANT NAME
	local got
	got="$st $(short)"
	if [ "$got" = "$1" ]; then
		ok 0 "$2"
	else
		ok 1 "$2"
		printf '%s\n' "got  $got" "want $1" "$(head -c 600 "$work/err")" \
		    "$(head -c 1200 "$work/out")" | sed 's/^/# /'
	fi
}
none() {	# REASON NAME: no verdict, by the judge
	gives "3 none - True judge $1" "$2"
}

# A judge and an answer without walls, as an ordinary user, in a folder of
# their own.  Says passed, failed or none.
alone() {	# VERIFIER ANSWER
	local v=$1 a=$2 d=$work/open/alone
	[ -e "$v" ] || v=$work/v/$v
	[ -e "$a" ] || a=$work/a/$a
	rm -rf "$d"
	mkdir "$d"
	cp "$v" "$d/verifier.py"
	cp "$a" "$d/solution.py"
	chmod 777 "$d"
	plain_tmp sh -c 'cd alone || exit; ulimit -v 2000000; ulimit -f 100000;
	    timeout -k 1 '"${alone_s:-$((5 * slow))}"' "$0" verifier.py solution.py' \
	    "$PY" >"$work/alone" 2>"$work/alone.err"
	alone_st=$?
	ask_of "$work/alone" said
}

# An attack: fools the judge where nothing is between them, and not in cells.
attack() {	# VERIFIER ANSWER NAME [OPTION...]
	is "$(alone "$1" "$2")" passed "control: $3: without walls it passes"
	run "$1" "$2" "${@:4}"
	gives "$zero" "$3"
}
honest() {	# VERIFIER ANSWER NAME [OPTION...]
	is "$(alone "$1" "$2")" passed "$3, without walls"
	run "$1" "$2" "${@:4}"
	gives "$full" "$3"
}

# What no other test's processes have in their arguments or as their name.
mark=$((1000000 + $$))
named="import ctypes, os; ctypes.CDLL(None).prctl(15, b'$mark')"

# A judge that runs the answer and says how it ended: the facts go with it.
runs() {	# a verifier in $work/v/runs.sh
	{ printf '#!/bin/sh\nmark=%d\n' $mark; cat; } <<'E' | verifier runs.sh
"$BAILIFF_ANSWER" -- python3 "$1" $mark >out 2>err </dev/null
printf '{"score": 0, "passed": false, "details": "%s %s"}\n' $? \
    "$(head -c 20 out | tr -dc 'a-z0-9 ')"
E
}
# Members of the facts of the last run's first answer.
facts() {	# MEMBER...
	ask "' '.join(str(d['answers'][0][k]) for k in '$*'.split())"
}
# Processes with these words in their arguments, anywhere on the machine.
left() {	# WORDS: 0 when none is left within a second
	for _ in {1..20}; do
		pgrep -f -- "$1" >/dev/null || pgrep -x -- "$1" >/dev/null ||
		    return 0
		sleep 0.05
	done
	return 1
}
# Ends what a control has left: by their numbers.
sweep() {	# WORDS
	local p
	for p in $(pgrep -f -- "$1"); do
		[ "$p" = $$ ] || kill -9 "$p" 2>/dev/null
	done
}
