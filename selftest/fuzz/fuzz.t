#!/bin/bash
# Runs every fuzz target for FUZZ_SECONDS, from its kept inputs in corpus/NAME.
# Where clang's fuzzer is not installed this is a named skip.
set -u

dir=${FUZZ_BUILD:-build/fuzz}
here=selftest/fuzz
seconds=${FUZZ_SECONDS:-5}
n=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

shopt -s nullglob
for src in "$here"/*.c; do
	name=${src##*/} name=${name%.c}
	n=$((n + 1))
	if [ ! -x "$dir/$name" ]; then
		echo "not ok $n - $name: not built"
		continue
	fi
	mkdir "$work/$name"
	kept=()
	[ -d "$here/corpus/$name" ] && kept=("$here/corpus/$name")
	if "$dir/$name" -max_total_time="$seconds" -rss_limit_mb=1024 \
	    -timeout=10 -max_len="$(sed -n 's,^/\* max_len: \([0-9]*\) \*/$,\1,p' \
	    "$src" | grep . || echo 4096)" -artifact_prefix="$work/" \
	    "$work/$name" "${kept[@]}" >"$work/log" 2>&1; then
		runs=$(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$work/log")
		echo "ok $n - $name: ${runs:-no} runs in $seconds s"
	else
		echo "not ok $n - $name"
		tail -n 40 "$work/log" | sed 's/^/# /' >&2
		for bad in "$work"/crash-* "$work"/timeout-* "$work"/oom-*; do
			echo "# input: $(base64 -w0 "$bad" | head -c 4000)" >&2
		done
	fi
done
[ "$n" -gt 0 ] && echo "1..$n" || echo "1..0 # SKIP no fuzz target"
