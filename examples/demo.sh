#!/bin/sh
# A tour: a right, a wrong and a hostile answer to the same task, and what
# became of each. Ends with 0 only when every outcome is the expected one.
set -u

here=$(dirname "$0")
bailiff=${BUILD:-$here/../build/release}/bailiff
env=$here/two_sum
result=$(mktemp) || exit 3
trap 'rm -f "$result"' EXIT
bad=0

judge() {	# ANSWER EXPECTED-STATUS
	echo
	echo "== $1"
	"$bailiff" run "$env" --answer "$env/answers/$1" --status-fd 3 \
	    --keep-output 16k 3>"$result"
	status=$?
	[ "$status" = "$2" ] && return
	echo "demo: exit status $status, not $2" >&2
	bad=1
}

echo "The task: $env/task.md"
judge right_table.py 0
judge wrong_places.py 1
judge hostile_tour.py 1
[ "$bad" = 0 ] || exit 1

echo
echo "What the hostile answer tried, by its own account:"
python3 -c '
import json, sys
result = json.load(open(sys.argv[1]))
tried = [line for line in result["answers"][0]["stderr"].splitlines()
         if line.startswith(("refused: ", "ALLOWED: "))]
for line in tried:
    print("  " + line)
open_ways = [line for line in tried if not line.startswith("refused: ")]
print(f"{len(tried) - len(open_ways)} of {len(tried)} refused; it also "
      "printed a verdict of its own,\nwhich counted for nothing: score "
      + format(result["score"], "g"))
sys.exit(len(tried) < 20 or bool(open_ways) or result["score"] != 0)
' "$result"
