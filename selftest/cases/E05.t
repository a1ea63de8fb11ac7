#!/bin/bash
# E05. Environment, folder, mask: nothing of the caller's surroundings decides
# what runs, where, or with which files.
. selftest/payload/setuid.sh

hostile E05

# A library that leaves a mark wherever it is loaded.
cat >"$S/mark.c" <<'END'
#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor)) static void
mark(void)
{
	char name[4096];
	ssize_t n = readlink("/proc/self/exe", name, sizeof name - 1);
	int fd = open(MARKS, O_WRONLY | O_APPEND | O_CREAT, 0666);

	if (n > 0)
		name[n++] = '\n';
	if (fd >= 0 && n > 0)
		n = write(fd, name, (size_t)n);
}
END
cc -shared -fPIC -O1 -DMARKS="\"$work/open/marks\"" -o "$S/mark.so" "$S/mark.c"
: >"$work/open/marks"
chmod 666 "$work/open/marks"
around=(LD_PRELOAD="$S/mark.so" LD_LIBRARY_PATH="$S" LD_AUDIT= TZ=:/etc/shadow
    GLIBC_TUNABLES=glibc.malloc.perturb=90 TMPDIR=/none PATH=/none IFS=/
    BASH_ENV="$S/none" ENV="$S/none" PYTHONPATH="$S" PYTHONSTARTUP=x HOME=/none
    PERL5LIB="$S" PERL5OPT=-Mnone BASH_FUNC_sh%%='() { exit 9; }' CDPATH=/)
cat >"$work/show" <<'END'
env | sed 's/=.*//' | grep -vE '^(PWD|OLDPWD|SHLVL|_)$' | sort | tr '\n' ' '
END
cp "$work/show" "$work/show.sh"
names='HOME LANG LOGNAME PATH TMPDIR USER '
as $ALICE env "${around[@]}" "$C" exec --put "$work/show:show" -- sh show \
    >"$work/out" 2>"$work/err" </dev/null
is "$? $(cat "$work/out")" "0 $names" "exec: an environment from a list"
grep -qx "$C" "$work/open/marks"
ok $? "control: the library was loaded by the client"
is "$(grep -vx -e "$C" -e '.*/env' "$work/open/marks")" "" \
    "and by nothing else"

cat >"$work/verifier" <<'END'
#!/bin/sh
mine=$(env | sed 's/=.*//' | grep -vE '^(PWD|OLDPWD|SHLVL|_)$' | sort |
    tr '\n' ' ')
its=$("$BAILIFF_ANSWER" -- sh solution.sh)
printf '{"score": 1, "passed": true, "details": "%s|%s|%s"}\n' "$mine" "$its" \
    "$(stat -c %a . verifier solution.sh | tr '\n' ' ')"
END
chmod 755 "$work/verifier"
for mask in 0 022 077 0777; do
	: >"$work/open/marks"
	as $ALICE env "${around[@]}" /bin/sh -c "umask $mask; exec \"\$@\"" sh \
	    "$C" run --json --judge "$work/verifier" --answer "$work/show.sh" \
	    >"$work/out" 2>"$work/err" </dev/null
	st=$?
	is $st 0 "run, mask $mask: a verdict" "$work/err"
	[ $mask = 0 ] && first=$(ask 'd.get("details")')
	is "$(ask 'd.get("details")')" "$first" "mask $mask: the same files"
done
is "$st $(ask 'd["details"].split("|")[0]')" \
    "0 BAILIFF_ANSWER BAILIFF_RESULT_FD $names" "a judge's, from a list"
is "$(ask 'd["details"].split("|")[1]')" "$names" "its answer's, too"
like "$(ask 'd["details"].split("|")[2]')" '7[05]5 7[05]5 6[04]4 ' \
    "its files' modes"
is "$(grep -vx -e "$C" -e '.*/env' -e '.*sh' "$work/open/marks")" "" \
    "the library went no further than the client"

# Two of one name, and what is no variable at all.
as $ALICE perl -e '
use strict;
my @env = ("PATH=/none", "PATH=.", "no equals sign", "=", "==", "A=1", "A=2");
require "syscall.ph" if 0;
my $file = shift;
my @args = map { "$_\0" } $file, "exec", "--", "env";
my $argv = pack "P" x @args . "x8", @args;
my @vars = map { "$_\0" } @env, "BAILIFF_HELPER=$ENV{BAILIFF_HELPER}";
my $envp = pack "P" x @vars . "x8", @vars;
syscall 59, "$file\0", $argv, $envp;
die "execve: $!\n";' "$C" >"$work/out" 2>"$work/err" </dev/null
st=$?
if [ "$(uname -m)" = x86_64 ]; then
	is "$st $(sed 's/=.*//' "$work/out" | sort | tr '\n' ' ')" "0 $names" \
	    "two PATHs, entries without = or a name"
else
	skip "two PATHs, entries without = or a name" "execve has another number"
fi
(mkdir "$work/open/gone" && cd "$work/open/gone" && rmdir ../gone &&
    as $ALICE "$C" exec -- sh -c 'pwd; exit 7' </dev/null >"$work/out" \
    2>"$work/err")
is "$? $(cat "$work/out")" "7 /work" "a working folder that is gone"
mkdir -m 700 "$work/locked"
(cd "$work/locked" && as $ALICE "$C" exec -- sh -c 'pwd; exit 7' </dev/null \
    >"$work/out" 2>"$work/err")
is "$? $(cat "$work/out")" "7 /work" "one that the caller can't enter"

# Timers that may come late, and pages that may be merged with another's.
cat >"$work/slack.py" <<'END'
import ctypes, os, sys
libc = ctypes.CDLL(None)
prctl = lambda n, v: libc.prctl(n, ctypes.c_ulong(v), ctypes.c_ulong(0),
                                ctypes.c_ulong(0), ctypes.c_ulong(0))
if prctl(29, 0x3fffffffffffffff) != 0:
    sys.exit(99)
prctl(67, 1)
os.execv(sys.argv[1], sys.argv[1:])
END
chmod 644 "$work/slack.py"
is "$(as $ALICE /usr/bin/python3 "$work/slack.py" /usr/bin/python3 -c '
import ctypes
print(ctypes.CDLL(None).prctl(30, 0, 0, 0, 0))' 2>&1)" -1 \
    "control: slack survives execve (as an int)"
as $ALICE /usr/bin/python3 "$work/slack.py" "$C" exec -- python3 -c '
import ctypes
prctl = ctypes.CDLL(None).prctl
print(prctl(30, 0, 0, 0, 0), prctl(68, 0, 0, 0, 0) in (0, -1))' \
    >"$work/out" 2>"$work/err" </dev/null
is "$? $(cat "$work/out")" "0 50000 True" \
    "timer slack and page merging are as usual in a cell"
nothing_left "nothing is left"
done_testing
