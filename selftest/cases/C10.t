#!/bin/bash
# C10. Crash with a core: no file, and no program of the machine's is started
# for it.  That takes a core limit of 1, neither more nor less: a pipe in the
# machine's core pattern ignores the limit 0 and obeys 1; see core(5).
# More of the kind: less than 1 is as bad as more, by six ways to set it; ten
# signals, three ways; a process that asks to be dumped whole; a caller whose
# own limit is 0.
# shellcheck disable=SC2016,SC2086 # inner shells; no blanks
. selftest/payload/cell.sh

pattern=$(cat /proc/sys/kernel/core_pattern)
cores=(prlimit --core=unlimited)
[ $root = 1 ] || cores=(prlimit --core="$(ulimit -Hc):")

# --- the limit --------------------------------------------------------------------
cell -- $PY /p/crash.py limits >"$work/in" 2>&1
"${cores[@]}" "${as_plain[@]}" $PY "$work/p/crash.py" limits >"$work/out" 2>&1
is "$(said in limit)" "1 1" "soft and hard limit: one byte"
both ask ok ok "it may be asked for"
both files ok ok "and other limits lowered"
for what in unlimited two page; do
	for w in setrlimit setrlimit_high prlimit prlimit_self prlimit_high \
	    prlimit_other; do
		both ${w}_$what '1 1' '(-1|2|4096) (-1|2|1048576)' \
		    "more by $w: $what" '0 0'
	done
done
for w in setrlimit setrlimit_high prlimit prlimit_self prlimit_high \
    prlimit_other; do
	both ${w}_soft '1 1' '.*' "a larger soft one by $w"
	both ${w}_zero '1 1' '0 0' "less by $w: 0 does not stop a pipe"
	both ${w}_soft_zero '1 1' '0 1' "less by $w: soft alone" '0 0'
done
for w in 'ulimit -c unlimited' 'ulimit -c 0' 'ulimit -Hc 0' 'ulimit -Sc 0' \
    'prlimit --core=0 --pid $$' 'prlimit --core=unlimited --pid $$'; do
	is "$(cell -- bash -c "$w 2>/dev/null; prlimit --core --noheadings \
	    -o SOFT,HARD" | xargs)" "1 1" "by a shell: $w"
done

# With a caller's hard limit of 0 and no right to raise it, there is no 1 to be
# had: refused then, never run with a pipe that would be heeded.
got=$(ulimit -c 0; cell -- prlimit --core --noheadings -o SOFT,HARD 2>/dev/null |
    xargs; echo "${PIPESTATUS[0]}")
like "${got//$'\n'/ }" '1 1 0|125| 125' "where the caller's hard limit is 0"

# --- the crash ----------------------------------------------------------------------
cores_of_cells() {	# outside, whoever owns them
	find "$work/open" /tmp /var/tmp /var/crash /var/lib/systemd/coredump \
	    -maxdepth 1 -name '*core*' -uid +65535 2>/dev/null
}
mkdir -m 0777 "$work/open/c"
cell -- $PY /p/crash.py crash /work >"$work/in" 2>&1
ok $? "crashes by ten signals, three ways" "$work/in"
is "$(grep -c ' signal [1-9]' "$work/in"):$(grep -c ' none$' "$work/in")" 30:30 \
    "none left a core"
is "$(said in files)" 0 "no file with the secret"
is "$(cores_of_cells)" "" "and none outside"
case $pattern in
'|'* | '@'*)
	skip "control: outside there is one" \
	    "needs a machine of its own: the pattern here is $pattern"
	;;
*)
	"${cores[@]}" "${as_plain[@]}" \
	    $PY "$work/p/crash.py" crash "$work/open/c" >"$work/out" 2>&1
	if [[ $pattern == */* ]] || [ "$(said out limit)" = "0 0" ]; then
		skip "control: outside there is one" "pattern $pattern, limit \
$(said out limit)"
	else
		[ "$(grep -c ' core$' "$work/out")" -ge 8 ]
		ok $? "control: outside they leave cores" "$work/out"
		like "$(said out files)" '[1-9].*' "control: with the secret"
	fi
	;;
esac

# --- the fact --------------------------------------------------------------------------
cell -- $PY -c 'import os; os.abort()' 2>/dev/null
is $? 134 "abort: status 128 and the signal"
got=$(cell --json -- $PY -c 'import os; os.abort()')
is "$($PY -c 'import json, sys; d = json.load(sys.stdin)
print(d["signal"], d["exit_code"], d["limit"])' <<<"$got")" "6 None None" \
    "the fact: signal 6"
cell -- sh -c 'kill -SEGV $$'
is $? 139 "a segmentation fault likewise"
is "$(cell -- sh -c 'sh -c "kill -ABRT \$\$"; echo "went on $?"' 2>/dev/null)" \
    "went on 134" "a crash of a child is the command's business"

# --- the pattern itself ------------------------------------------------------------------
is "$(cell -- sh -c 'for f in core_pattern core_pipe_limit core_uses_pid; do
	{ echo "|/bin/true" >/proc/sys/kernel/$f; } 2>/dev/null && echo $f
done; echo x >/proc/sys/fs/suid_dumpable && echo suid_dumpable' 2>/dev/null)" "" \
    "the machine's pattern can't be changed"
is "$(cat /proc/sys/kernel/core_pattern)" "$pattern" "and was not"
# --- other patterns: where the machine is this test's own, as in a VM -------------------
piped() {	# what the handler of a pipe has been given
	find "$work/open/h" -name 'got.*' -size +0 | grep -c .
}
filed() {
	find "$work/open/h" -name 'core.*' | grep -c .
}
if [ "${BL_MACHINE-}" != own ]; then
	for w in "a pattern that is a pipe to a program" \
	    "a pattern that is a path"; do
		skip "C10 with $w" "needs a machine of its own: $w"
	done
	done_testing
	exit
fi
mkdir -m 1777 "$work/open/h"
printf '#!/bin/sh\nexec cat >%q/got.$1\n' "$work/open/h" >"$work/handler"
chmod 755 "$work/handler"
dumpable=$(cat /proc/sys/fs/suid_dumpable)
trap 'echo "$pattern" >/proc/sys/kernel/core_pattern
    echo "$dumpable" >/proc/sys/fs/suid_dumpable; rm -rf "$work"' EXIT
# as systemd-coredump and others have it: for programs with rights as well
echo 2 >/proc/sys/fs/suid_dumpable
for w in "piped |$work/handler %P" "filed $work/open/h/core.%P"; do
	count=${w%% *}
	echo "${w#* }" >/proc/sys/kernel/core_pattern
	is "$(cat /proc/sys/kernel/core_pattern)" "${w#* }" \
	    "control: the machine's pattern is another, $count"
	cell -- $PY /p/crash.py crash /work >"$work/in" 2>&1
	ok $? "$count: crashes by ten signals, three ways" "$work/in"
	is "$(grep -c ' signal [1-9]' "$work/in"):$(grep -c ' none$' \
	    "$work/in")" 30:30 "$count: none left a core"
	sleep 1		# a handler runs by itself
	is "$($count)" 0 "$count: nothing outside has any of it"
	"${cores[@]}" "${as_plain[@]}" $PY "$work/p/crash.py" crash \
	    "$work/open/c" >"$work/out" 2>&1
	for _ in {1..50}; do
		[ "$($count)" -ge 24 ] && break
		sleep 0.1
	done
	[ "$($count)" -ge 24 ]
	ok $? "$count: control: outside it has $($count) cores" "$work/out"
	rm -rf "$work"/open/h/* "$work"/open/c/*
done
done_testing
