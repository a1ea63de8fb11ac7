#!/bin/bash
# E07. Lend me your rights: what the caller can't open, the helper doesn't open
# for it; the client opens with the caller's rights and passes what is open.
. selftest/payload/setuid.sh

mark=only-root-knows-$$
open=$work/open
secret=$work/secret
echo "$mark" >"$secret" && chmod 600 "$secret"
mkdir -m 700 "$work/closed" && echo "$mark" >"$work/closed/file"
mkdir -m 711 "$work/blind" && echo "$mark" >"$work/blind/hidden" &&
    chmod 600 "$work/blind/hidden" && echo fine >"$work/blind/known"
ln -s "$secret" "$open/link"
ln -s "$work/closed" "$open/dirlink"
ln -s "$work/closed/file" "$open/deep"
ln -s loop "$open/loop"
printf '#!/bin/sh\necho "{\\"score\\": 1, \\"passed\\": true}"\n' \
    >"$open/verifier"
chmod 755 "$open/verifier"
mkdir "$open/env" "$open/env2" && cp "$open/verifier" "$open/env/" &&
    cp "$open/verifier" "$open/env2/" && echo t >"$open/env/task.md" &&
    echo t >"$open/env2/task.md" && ln -s "$secret" "$open/env/data" &&
    mkdir "$open/env2/data" && ln -s "$work/closed" "$open/env2/data/all"
echo x >"$open/answer.sh"

tell='cat x /x /x/* /x/*/* x/* 2>&1; ls -lR /x x 2>&1'
leaks() {
	grep -q "$mark" "$work/out" "$work/err"
}
exec_refused() {	# NAME OPTION...
	local name=$1
	shift
	as $ALICE timeout 10 "$C" exec "$@" -- sh -c "$tell" >"$work/out" \
	    2>"$work/err" </dev/null
	[ $? = 125 ] && [ -s "$work/err" ] && ! leaks
	ok $? "exec: $name" "$work/out" "$work/err"
}
exec_refused "--put of root's file" --put "$secret:x"
exec_refused "--put of a link to it" --put "$open/link:x"
exec_refused "--put below a folder that is closed" --put "$work/closed/file:x"
exec_refused "--put of a link below it" --put "$open/deep:x"
exec_refused "--put of a closed folder" --put "$work/closed:x"
exec_refused "--put of a link to it" --put "$open/dirlink:x"
exec_refused "--put of a link to itself" --put "$open/loop:x"
exec_refused "--put of /proc/self/mem" --put "/proc/self/mem:x"
exec_refused "--put of /etc/shadow" --put "/etc/shadow:x"
exec_refused "--put of a device" --put "/dev/zero:x"
exec_refused "--put of root's memory" --put "/proc/1/environ:x"
exec_refused "--put of a name of many parts" --put \
    "$open/../open/./mine/..//../closed/file:x"
exec_refused "--ro-bind of a file" --ro-bind "$secret:/x"
exec_refused "--ro-bind of a folder below a closed one" \
    --ro-bind "$work/closed/none:/x"
exec_refused "--ro-bind of what is not there" --ro-bind "$open/none:/x"
exec_refused "--expose below a closed one" --expose "$work/closed/file"
mkfifo "$open/fifo"
as $ALICE timeout 10 "$C" exec --put "$open/fifo:x" -- true >"$work/out" \
    2>"$work/err" </dev/null
is $? 125 "exec: --put of a pipe that nobody writes"
rm "$open/fifo"

# What can be opened, but not read, stays so: in the cell it is somebody
# else's, and so it is with a folder that can be searched and not listed.
seen() {	# NAME OPTION...
	local name=$1
	shift
	as $ALICE timeout 10 "$C" exec "$@" -- sh -c "$tell" >"$work/out" \
	    2>"$work/err" </dev/null
	! leaks
	ok $? "exec: $name" "$work/out" "$work/err"
}
seen "--ro-bind of a closed folder" --ro-bind "$work/closed:/x"
seen "--ro-bind of a link to it" --ro-bind "$open/dirlink:/x"
seen "--ro-bind of a folder that can't be listed" --ro-bind "$work/blind:/x"
seen "--ro-bind of the folder above all" --ro-bind "$work:/x"
seen "--ro-bind of root's home" --ro-bind "/root:/x"
grep -q "Permission denied" "$work/out"
ok $? "control: it was tried" "$work/out"
as $ALICE "$C" exec --ro-bind "$work/blind:/x" -- sh -c \
    'cat /x/known; ls /x >/dev/null 2>&1 || exit 7' >"$work/out" \
    2>"$work/err" </dev/null
is "$? $(cat "$work/out")" "7 fine" \
    "exec: a name in it that is known can be used, as outside"
cat "$secret" >"$work/out"
leaks
ok $? "control: root's own cat"

run_refused() {	# STATUS NAME WORD...
	local want=$1 name=$2 st
	shift 2
	as $ALICE timeout 10 "$C" run --json "$@" >"$work/out" 2>"$work/err" \
	    </dev/null
	st=$?
	[[ $st =~ ^($want)$ ]] && ! leaks && ! grep -q '"score"' "$work/out"
	ok $? "run: $name ($st)" "$work/out" "$work/err"
}
run_refused '3|77' "an answer that is root's" --judge "$open/verifier" \
    --answer "$secret"
run_refused '3|77' "a link to one" --judge "$open/verifier" \
    --answer "$open/link"
run_refused '3|77' "a judge that is root's" --judge "$secret" \
    --answer "$open/answer.sh"
run_refused '3|77' "a link to one" --judge "$open/link" \
    --answer "$open/answer.sh"
run_refused '3|77' "an environment that is closed" "$work/closed" \
    --answer "$open/answer.sh"
run_refused '3|77' "one with a link to root's file" "$open/env" \
    --answer "$open/answer.sh"
run_refused '3|77' "one with a link to a closed folder" "$open/env2" \
    --answer "$open/answer.sh"
mkfifo "$open/fifo"
run_refused '3|77' "an answer that is a pipe" --judge "$open/verifier" \
    --answer "$open/fifo"
run_refused '3|77' "an answer that is a device" --judge "$open/verifier" \
    --answer /dev/zero
run_refused '3|77' "an answer that is a folder's descriptor" --judge \
    "$open/verifier" --answer /proc/self/fd/3
# An open descriptor is the caller's own, whoever opened the file: root did.
as $ALICE "$C" exec --put /proc/self/fd/9:x -- cat x 9<"$secret" >"$work/out" \
    2>"$work/err" </dev/null
like $? '125|0' "exec: /proc/self/fd/9 of root's file: as the kernel says"
leaks
[ $? = 1 ]
ok $? "exec: which is that it may not be opened again" "$work/out"

# A name that is another file from one moment to the next.
cat >"$S/swap.c" <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
int
main(int argc, char **argv)
{
	while (argc == 3)
		renameat2(AT_FDCWD, argv[1], AT_FDCWD, argv[2],
		    RENAME_EXCHANGE);
	return 1;
}
END
cc -O1 -o "$S/swap" "$S/swap.c"
mkdir -m 755 "$open/mine" && chown $ALICE "$open/mine"
echo harmless >"$open/mine/a"
ln -s "$secret" "$open/mine/b"
mkdir "$open/mine/c" && echo harmless >"$open/mine/c/file"
ln -s "$work/closed" "$open/mine/d"
chown -R -h $ALICE "$open/mine"
begin $ALICE "$S/swap" "$open/mine/a" "$open/mine/b" &
swap=$!
bad=0 good=0 refused=0
for i in {1..60}; do
	if [ $i = 21 ]; then
		kill $swap
		wait $swap 2>/dev/null
		begin $ALICE "$S/swap" "$open/mine/c" "$open/mine/d" &
		swap=$!
	fi
	case $((i <= 20 ? 0 : i % 2 + 1)) in
	0) set -- --put "$open/mine/a:x" ;;
	1) set -- --put "$open/mine/c:x" ;;
	2) set -- --ro-bind "$open/mine/c:/x" ;;
	esac
	as $ALICE "$C" exec "$@" -- sh -c "$tell" >"$work/out" 2>"$work/err" \
	    </dev/null
	st=$?
	leaks && bad=$((bad + 1))
	grep -q harmless "$work/out" && good=$((good + 1))
	[ $st = 125 ] && refused=$((refused + 1))
done
kill $swap
wait $swap 2>/dev/null
is $bad 0 "60 runs with names that are swapped: no secret"
[ $good -gt 0 ] && [ $refused -gt 0 ]
ok $? "control: $good had the harmless one, $refused were refused"

# Whatever is looked up with rights is looked up by names of the helper's own.
if strace -f -o "$work/trace" -e trace=%file true 2>/dev/null; then
	strace -f -qq -s 300 -o "$work/trace" \
	    -e trace=%file,open_tree,move_mount,openat2,chdir \
	    setpriv --reuid=$ALICE --regid=$ALICE --groups=$GROUP env -i \
	    BAILIFF_HELPER="$H" HOME=/ "$C" exec --put "$open/answer.sh:x" \
	    --ro-bind "$open/mine:/x" -w /tmp -- true </dev/null \
	    >"$work/out" 2>"$work/err"
	st=$?
	is $st 0 "a run, traced" "$work/err"
	# the helper's own processes: from its execve to a program's
	awk -v h="$H" '
		index($0, "execve(\"" h) { on[$1] = 1; next }
		/clone3?\(|fork\(/ { next }
		$2 ~ /^execve/ { if (on[$1]) on[$1] = 0; next }
		on[$1] { print }' "$work/trace" >"$work/mine"
	[ "$(grep -c . "$work/mine")" -ge 10 ]
	ok $? "control: the helper's calls are in it"
	grep -F -e "$open" -e "$work" "$work/mine" >"$work/bad"
	[ ! -s "$work/bad" ]
	ok $? "the helper looks up no path of the caller's" "$work/bad"
else
	skip "the helper looks up no path of the caller's" "strace can't be used"
fi
nothing_left "nothing is left"
done_testing
