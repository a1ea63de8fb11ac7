#!/bin/sh
# A tour: a right, a wrong and a hostile answer to the same task, what became of
# each, and a usual verifier that loads the answer, without bailiff and with it.
# Ends with 0 only when every outcome is the expected one.
set -u

here=$(dirname "$0")
bailiff=${BUILD:-$here/../build/release}/bailiff
# a package's examples have no build beside them
[ -n "${BUILD-}" ] || [ -x "$bailiff" ] || bailiff=bailiff
work=$(mktemp -d) || exit 3
result=$work/result
trap 'rm -rf "$work"' EXIT
bad=0

judge() {	# ENVIRONMENT ANSWER EXPECTED-STATUS
	echo
	echo "== $2"
	"$bailiff" run "$here/$1" --answer "$here/$1/answers/$2" --status-fd 3 \
	    --keep-output 16k 3>"$result"
	status=$?
	[ "$status" = "$3" ] && return
	echo "demo: exit status $status, not $3" >&2
	bad=1
}

echo "The task: $here/two_sum/task.md"
judge two_sum right_table.py 0
judge two_sum wrong_places.py 1
judge two_sum hostile_tour.py 1
[ "$bad" = 0 ] || exit 1

echo
echo "What the hostile answer tried, by its own account:"
python3 -c '
import json, sys
result = json.load(open(sys.argv[1]))
# what a way does without, by design
absent = {"bwrap": ["see any other process"]}.get(result["way"], [])
tried = [line.split(": ", 1)
         for line in result["answers"][0]["stderr"].splitlines()
         if line.startswith(("refused: ", "ALLOWED: "))]
refused = [what for word, what in tried if word == "refused"]
missing = [what for word, what in tried if word != "refused" and what in absent]
for word, what in tried:
    print("  " + ("not by " + result["way"] if what in missing else word) +
          ": " + what)
print(f"{len(refused)} of {len(tried)} refused; it also printed a verdict of "
      "its own,\nwhich counted for nothing: score " +
      format(result["score"], "g"))
if missing:
    print("The way " + result["way"] + " gives no users: the processes of one "
          "cell see each other.\nmake install, or a range in /etc/subuid and "
          "/etc/subgid, gives them:\nsee bailiff doctor.")
sys.exit(len(tried) < 20 or len(refused) + len(missing) < len(tried) or
         result["score"] != 0)
' "$result" || exit 1

echo
echo "Most verifiers load the answer into their own process, as this one does:"
echo "$here/palindrome/verifier.py. Plain Python and an answer that prints a"
echo "verdict and ends the process:"
echo
echo "== python3 verifier.py solution.py"
cp "$here/palindrome/verifier.py" "$work" &&
    cp "$here/palindrome/answers/hostile_exit.py" "$work/solution.py" &&
    (cd "$work" && python3 verifier.py solution.py) >"$work/fooled"
cat "$work/fooled"
grep -q '"passed": *true' "$work/fooled" || bad=1
echo
echo "The same verifier and the same answer, and then an honest one, by bailiff:"
judge palindrome hostile_exit.py 1
judge palindrome right_reverse.py 0
exit $bad
