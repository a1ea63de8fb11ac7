#!/bin/bash
# coverage.sh BUILD - how much of each source the tests ran, by gcov.
set -eu

b=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
find "$PWD/$b/obj" -name '*.gcda' ! -path '*/t/*' -print0 |
	(cd "$work" && xargs -0 -r gcov -r -s "$OLDPWD" -n 2>/dev/null) |
	awk -v top="$PWD/" '
	/^File/ { f = $2; gsub(/\047/, "", f); sub("^" top, "", f); next }
	/^Lines executed/ && f != "" {
		split($0, p, /[:% ]+/); n = $NF
		if (f !~ /^(\/|build\/)/ && p[3] * n >= best[f] * lines[f]) {
			best[f] = p[3]; lines[f] = n
		}
		f = ""
	}
	/^No executable/ { f = "" }
	END {
		for (f in best) {
			printf "%6.1f%% of %4d  %s\n", best[f], lines[f], f
			run += best[f] * lines[f] / 100; all += lines[f]
		}
		if (all) printf "%6.1f%% of %4d  all\n", 100 * run / all, all
	}' | sort -k 4
