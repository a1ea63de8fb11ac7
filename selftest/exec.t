#!/bin/bash
# bailiff exec, from outside: where its output goes, what it leaves behind when
# it refuses, and what it advises.
set -u

B=$(realpath "${BUILD:-build/release}")/bailiff
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset DAYTONA_API_KEY VIRTUAL_ENV CONDA_PREFIX PYENV_ROOT NOT_SET
export XDG_CONFIG_HOME=$work/none
# shellcheck source=selftest/payload/tap.sh
. selftest/payload/tap.sh
if ! "$B" exec -- /bin/true 2>"$work/why"; then
	echo "1..0 # SKIP no cells here: $(head -n 1 "$work/why")"
	exit 0
fi

# --- streams ---------------------------------------------------------------

for what in "-- yes" "-- seq 100000" "--json -- sleep 0.5" \
    "--max-output 1t -- sh -c yes"; do
	# shellcheck disable=SC2086
	"$B" exec $what 2>"$work/err" | true
	is "${PIPESTATUS[0]} $(wc -c <"$work/err")" "141 0" \
	    "$what: nobody reads it: an end like a pipeline's, without a word"
done
"$B" exec -- echo x >/dev/full 2>"$work/err"
is $? 125 "a full device is a failure"
"$B" exec -- echo x >&- 2>"$work/err"
is $? 125 "stdout is closed, and there is output"
"$B" exec -- sh -c 'exit 7' >&- 2>"$work/err"
is $? 7 "stdout is closed, and there is none"

# --- files -----------------------------------------------------------------

"$B" exec --get d:"$work/d" -- sh -c 'mkdir -p d/e d/f; echo x >d/e/a
    echo y >d/b; ln -s b d/l' 2>"$work/err"
is "$? $(ls "$work")" "125 err
why" "a refused --get leaves nothing"
mkdir "$work/d"
echo z >"$work/d/z"
"$B" exec --get d:"$work/d" -- sh -c 'mkdir d; ln -s b d/l' 2>"$work/err"
is "$? $(cat "$work/d/z")" "125 z" "and takes nothing away"

# --- control groups --------------------------------------------------------

"$B" exec --cgroup scope --json -- true >"$work/out" 2>"$work/err"
is "$? $(/usr/bin/python3 -c 'import json, sys
d = json.load(sys.stdin)
print((d["protections"]["cgroup"] == "v2") != ("scope" in str(d["warnings"])))' \
    <"$work/out")" "0 True" "--cgroup scope is there, or that it is not is said"

# --- advice ----------------------------------------------------------------

is_advice() {	# WANT NAME COMMAND...
	local want=$1 name=$2
	shift 2
	"$B" exec "$@" 2>"$work/err"
	is "$? $(sed -n 's/.*hint: .*\(--expose .*\)/\1/p' "$work/err")" \
	    "127 $want" "$name"
}
is_advice "" "a PATH without programs" -e PATH=/x -- env
export VIRTUAL_ENV=/no/such
is_advice "" "what is nowhere" -- /nope
is_advice "" "what is nowhere, by name" -- nope-nope
home=$(mktemp -d "${HOME:-/root}/bailiff-test.XXXXXX" 2>/dev/null)
if [ -d "$home" ]; then
	trap 'rm -rf "$work" "$home"' EXIT
	mkdir "$home/bin"
	printf '#!/bin/sh\n' >"$home/bin/a-program"
	chmod 755 "$home/bin/a-program"
	is_advice "--expose $home" "a program below a home, by its path" \
	    -- "$home/bin/a-program"
	export VIRTUAL_ENV=$home
	is_advice "--expose $home" "in a virtualenv, by its name" -- a-program
	mkdir -p "$home/venv/bin" "$home/py/bin"
	cp "$home/bin/a-program" "$home/py/bin/a-3.1"
	ln -s a-3.1 "$home/py/bin/a-3"
	ln -s ../../py/bin/a-3 "$home/venv/bin/a"
	is_advice "--expose $home/py" "a link out of what is exposed" \
	    --expose "$home/venv" -- "$home/venv/bin/a"
	export VIRTUAL_ENV=$home/venv
	is_advice "--expose $home/py" "by its name, with a slash" \
	    --expose "$home/venv/" -- a
	"$B" exec --expose "$home/venv" --expose "$home/py" -- \
	    "$home/venv/bin/a" 2>"$work/err"
	is $? 0 "and that is what it lacked"
	printf '#!/no/such\n' >"$home/py/bin/b" && chmod 755 "$home/py/bin/b"
	is_advice "" "a script without its interpreter" --expose "$home/py" \
	    -- "$home/py/bin/b"
	"$B" exec --keep -- /nope 2>"$work/err"
	is "$? $(grep -c -- --keep "$work/err")" "127 0" \
	    "--keep: what never started is not missed"
	kept=$(sed -n 's/.*kept: until kill //p' "$work/err")
	[ -z "$kept" ] || kill "$kept"
fi
"$B" exec -e NOT_SET -- true 2>"$work/err"
is "$? $(cat "$work/err")" \
    "0 bailiff: warning: not set here, so not passed on: NOT_SET" \
    "a variable that is not set"
"$B" exec -m 1000000t -- true 2>"$work/err"
is "$? $(head -n 1 "$work/err")" "125 bailiff: memory: the limit is above what \
the rules give this user [limit_above_rules]" \
    "a limit above the rules"
there=$([ -e /etc/bailiff/rules ] && echo changed || echo built-in)
is "$(sed -n 2p "$work/err" | grep -cE "^bailiff: hint: .*$there")" 1 \
    "and where these rules are"

# --- help ------------------------------------------------------------------

for option in --meta --workdir; do
	"$B" run --help | grep -q -e "$option"
	is $? 1 "run --help: no $option"
	"$B" exec --help | grep -q -e "$option"
	is $? 0 "exec --help: $option"
done
echo "1..$n"
