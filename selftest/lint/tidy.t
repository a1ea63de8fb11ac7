#!/bin/bash
# Three analysers on helper/ and policy/: gcc -fanalyzer, cppcheck, clang-tidy.
# Each is first shown a mistake that it must find.
set -u

B=${BUILD:-build/release}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
n=0
flags=(-std=c11 -D_GNU_SOURCE -I"$B/gen")
checks='-*,bugprone-*,cert-*,misc-*,android-cloexec-*,clang-analyzer-*'
checks+=,-bugprone-easily-swappable-parameters	# uid and gid, by design
checks+=,-bugprone-reserved-identifier,-cert-dcl37-c,-cert-dcl51-cpp # libc names
checks+=,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling
checks+=,-bugprone-assignment-in-if-condition	# the style of this code
checks+=,-clang-analyzer-deadcode.DeadStores	# of if ((r = f()) != 0), likewise
checks+=,-bugprone-suspicious-missing-comma	# texts over several lines
checks+=,-bugprone-macro-parentheses		# initialisers
checks+=,-bugprone-branch-clone,-clang-analyzer-optin.performance.Padding
mapfile -t files < <(ls helper/*.c policy/*.c)
# the two tools run while building, with the builder's rights
mapfile -t linked < <(printf '%s\n' "${files[@]}" |
	grep -vE '^policy/(rulesc|filterc)\.c$')

ok() {	# status, name, file with the findings
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		[ -z "${3:-}" ] || sed 's/^/# /' "$3" | head -n 60
	fi
}

analyze() {
	printf '%s\0' "$@" | xargs -0 -n 1 -P 2 \
		gcc "${flags[@]}" -O1 -fanalyzer -Werror -c -o /dev/null
}
check() {
	cppcheck -q --std=c11 -D_GNU_SOURCE -D__x86_64__ -I"$B/gen" -j 2 \
		--enable=warning,portability,performance --inconclusive \
		--inline-suppr --error-exitcode=1 \
		--suppress=missingIncludeSystem "$@"
}
tidy() {
	printf '%s\0' "$@" | xargs -0 -n 4 -P 2 sh -c '
		checks=$1 gen=$2; shift 2
		exec clang-tidy --quiet --header-filter="(helper|policy)/" \
			--checks="$checks" \
			--warnings-as-errors="*" "$@" -- \
			-std=c11 -D_GNU_SOURCE "-I$gen"' sh "$checks" "$B/gen" \
		2> >(grep -v ' warnings\? generated' >&2)
}

cat >"$dir/heap.c" <<'END'
#include <stdlib.h>
void f(char *p);
void
f(char *p)
{
	free(p);
	free(p);
}
END
cat >"$dir/fd.c" <<'END'
#include <fcntl.h>
int f(int n);
int
f(int n)
{
	int a[4] = { 0 };

	for (int i = 0; i <= 4; i++)
		a[i] = n;
	return open("/", O_RDONLY) + a[0];
}
END
! analyze "$dir/heap.c" >/dev/null 2>&1
ok $? 'gcc -fanalyzer would see a double free'
! check "$dir/fd.c" >/dev/null 2>&1
ok $? 'cppcheck would see a write past the end'
! tidy "$dir/fd.c" >/dev/null 2>&1
ok $? 'clang-tidy would see a missing O_CLOEXEC'

analyze "${files[@]}" >"$dir/out" 2>&1
ok $? "gcc -fanalyzer: ${#files[@]} files" "$dir/out"
check "${files[@]}" >"$dir/out" 2>&1
ok $? "cppcheck: ${#files[@]} files" "$dir/out"
tidy "${linked[@]}" >"$dir/out" 2>&1
ok $? "clang-tidy: ${#linked[@]} files" "$dir/out"
echo "1..$n"
