#!/bin/bash
# The examples' verifiers under plain Python, unchanged: the right and the wrong
# answers get the scores there that examples/expected.tsv says, which are those
# that run.t sees by bailiff. The hostile ones that fool it there are counted.
set -u

. selftest/payload/tap.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset BAILIFF_ANSWER

# What a judge finds as `import bailiff`, for a verifier outside of a cell.
mkdir "$work/lib"
cat >"$work/lib/bailiff.py" <<'END'
import importlib.util
def load(path, name="solution", timeout=None):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
END
# What a verifier that is a function's body needs around it.
cat >"$work/lib/body.py" <<'END'
import json, sys, textwrap
text = open("verifier.py", encoding="utf-8").read()
space = {}
exec("def verify(solution_path, test_cases_path=None):\n" +
     textwrap.indent(text, "    "), space)
print(json.dumps(space["verify"](*sys.argv[1:])))
END

plain() {	# FOLDER ANSWER: the score, or what else came
	local env=examples/$1 dir=$work/run suffix="" name=solution
	rm -rf "$dir"
	cp -r "$env" "$dir" && rm -rf "$dir/answers"
	if [ -d "$env/answers/$2" ]; then
		cp -r "$env/answers/$2" "$dir/solution"
	else
		name=solution.${2##*.}
		cp "$env/answers/$2" "$dir/$name"
	fi
	[ -f "$dir/test_cases.json" ] && suffix=test_cases.json
	(
		cd "$dir" || exit 3
		if [ -f verifier ]; then
			set -- ./verifier
		elif grep -q __name__ verifier.py; then
			set -- python3 verifier.py
		else
			set -- python3 "$work/lib/body.py"
		fi
		# shellcheck disable=SC2086
		PYTHONPATH="$work/lib" timeout 10 "$@" "$name" $suffix \
		    </dev/null 2>"$work/err" | tail -n 1
	) | python3 -c 'import json, sys
try:
    print("%.4g" % json.loads(sys.stdin.read())["score"])
except (ValueError, KeyError, TypeError) as e:
    print(e)'
}

for env in examples/*/; do
	env=$(basename "$env")
	seen=0
	for a in "examples/$env/answers/"{right,wrong}*; do
		[ -e "$a" ] || continue
		name=${a##*/}
		want=$(awk -F '\t' -v e="$env" -v a="$name" \
		    '$1 == e && $2 == a { print $4 }' examples/expected.tsv)
		is "$(plain "$env" "$name")" "$want" "$env: $name"
		seen=$((seen + 1))
	done
	[ $seen -ge 2 ]
	ok $? "$env: $seen right and wrong answers"
done

fooled=0
for env in palindrome in_place numbers brackets; do
	for a in "examples/$env/answers/hostile_"*; do
		[ "$(plain "$env" "${a##*/}")" = 1 ] && fooled=$((fooled + 1))
	done
done
[ $fooled -ge 10 ]
ok $? "control: $fooled hostile answers get 1 from the same verifiers there"
echo "1..$n"
