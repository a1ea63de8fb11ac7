#!/bin/bash
# bailiff selftest, from outside: its lines, its JSON, its exit statuses, and
# that nothing is left.  That it sees what is missing: selftest/root/walls.t.
set -u

B=$(realpath "${BUILD:-build/release}")/bailiff
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset DAYTONA_API_KEY
export XDG_CONFIG_HOME=$work/none LC_ALL=C
# shellcheck source=selftest/payload/tap.sh
. selftest/payload/tap.sh
if ! "$B" exec -- /bin/true 2>"$work/why"; then
	echo "1..0 # SKIP no cells here: $(head -n 1 "$work/why")"
	exit 0
fi

st=0
selftest() {
	"$B" selftest "$@" >"$work/out" 2>"$work/err" </dev/null
	st=$?
}
ask() {
	/usr/bin/python3 -c 'import json, sys
d = json.load(open(sys.argv[1], encoding="utf-8"))
w = {x["name"]: x for x in d["walls"]}
print(eval(" ".join(sys.argv[2].split())))' "$work/out" "$1" 2>&1
}

# --- lines -----------------------------------------------------------------

before=$(cat /proc/sysvipc/* | wc -l)
from=$(date +%s%N)
selftest
took=$((($(date +%s%N) - from) / 1000000))
is $st 0 "it ends with 0"
[ $took -lt $((10000 * slow)) ]	# 3 s of it processor time
ok $? "it took $took ms"
is "$(grep -cvE '^(pass|unknown|absent) +[a-z_0-9]+ +[A-Za-z].*|^local, way [a-z]+: '\
'[0-9]+ passed, 0 failed, [0-9]+ unknown(, [0-9]+ absent by design)?$' \
    "$work/out")" 0 "one line a wall, and one for the sum"
is "$(tail -n 1 "$work/out" | grep -c ' passed, ')" 1 "which is the last"
is "$(cut -c10- "$work/out" | sed '$d; s/ .*//' | sort | uniq -d)" "" \
    "no wall twice"
is "$(cat "$work/err")" "" "nothing on stderr"
lines=$(($(wc -l <"$work/out") - 1))
[ $lines -ge 60 ]
ok $? "$lines walls"
is "$(cat /proc/sysvipc/* | wc -l)" "$before" "no object of its own is left"
selftest -q
is "$(wc -l <"$work/out") $st" "$(($(grep -cE '^(unknown|absent)' \
    "$work/out") + 1)) 0" "-q: only what does not pass, and the sum"
selftest -v
is "$(grep -c '(in the cell: .*; outside: ' "$work/out")" $lines \
    "-v: what was seen of each"

# --- JSON ------------------------------------------------------------------

selftest --json
is "$st $(wc -l <"$work/out")" "0 1" "--json: one line"
is "$(ask 'sorted(d)')" "['absent', 'failed', 'mode', 'passed', 'schema', \
'unknown', 'walls', 'way']" "its members"
is "$(ask '(d["schema"], d["mode"], d["failed"])')" \
    "('bailiff-selftest/1', 'local', 0)" "what they say"
is "$(ask '{tuple(sorted(x)) for x in d["walls"]}')" \
    "{('control', 'detail', 'name', 'status', 'tried')}" "those of a wall"
is "$(ask 'len(d["walls"]) == len(w) == d["passed"] + d["failed"] +
d["unknown"] + d["absent"]')" True "the sums are right"
is "$(ask 'len(w)')" $lines "the same walls"
is "$(ask 'all(x["tried"] and x["control"] and x["detail"] for x in
d["walls"])')" True "each tells what was tried, and seen"
is "$(ask '[x["name"] for x in d["walls"] if x["status"] == "pass" and
"not tried" in x["control"] + x["detail"]]')" "[]" "none passes untried"
# with this machine's root every call has a control
if [ "$(id -u)" = 0 ]; then
	is "$(ask '[x["control"] for x in d["walls"] if "but not" in
x["control"]]')" "[]" "each call gets to the kernel outside"
else
	skip "each call gets to the kernel outside" "needs root"
fi

# --- what can't be told is not passed ---------------------------------------

# Under a filter and no_new_privs of the caller's own: cells can't be had by
# a set-user-id helper then; root's own still can.
if [ "$(id -u)" = 0 ]; then
	setpriv --no-new-privs "$B" selftest --json >"$work/out" 2>"$work/err"
	is "$? $(ask '[x["name"] for x in d["walls"] if
x["status"] == "unknown"]')" "0 ['no_new_privs']" \
	    "under no_new_privs itself: unknown, not passed"
	unshare -n "$B" selftest --json >"$work/out" 2>"$work/err"
	is "$? $(ask '[x["name"] for x in d["walls"] if
x["status"] == "unknown"]')" \
	    "0 ['loopback', 'host_tcp4', 'host_tcp6', 'other_sockets']" \
	    "without a loopback outside: unknown"
else
	skip "unknown, not passed" "needs root"
fi

# --- statuses --------------------------------------------------------------

selftest --no-such-option
is "$st $(wc -l <"$work/out")" "64 0" "an option that there is not"
selftest word
is $st 64 "a word"
selftest --way nonsense
is $st 64 "a way that there is not"
selftest --memory 1g
is $st 64 "an option of other commands"
selftest --mode docker
is $st 3 "a mode that this build lacks"
BAILIFF_HELPER=/no/such selftest
is "$st $(grep -c '\[helper_missing\]' "$work/err")" "3 1" \
    "no helper: no sandbox"
BAILIFF_HELPER=/no/such selftest --json
is "$st $(ask '(d["walls"], d["passed"], d["error"]["code"])')" \
    "3 ([], 0, 'helper_missing')" "the same in JSON"
selftest --help
is "$st $(head -c 23 "$work/out")" "0 usage: bailiff selftest" "--help"
"$B" help | grep -q '^  selftest '
ok $? "bailiff help names it"
"$B" selftest >/dev/full 2>"$work/err"
is $? 3 "an output that can't be written"

# --- ends ------------------------------------------------------------------

for signal in INT TERM KILL; do
	"$B" selftest >"$work/out" 2>&1 </dev/null &
	pid=$!
	sleep 0.4
	kill -$signal $pid
	wait $pid 2>/dev/null
	folder=
	for i in {1..30}; do
		folder=$(find /tmp -maxdepth 1 -name 'bailiff-selftest.*' \
		    -newer "$work/why" -user "$(id -u)" 2>/dev/null)
		[ -n "$folder" ] || break
		sleep 0.1
	done
	is "$folder" "" "$signal: its folder is gone"
done
echo "1..$n"
