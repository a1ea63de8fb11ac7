#!/bin/bash
# C09. The kernel's side doors: what needs rights fails by each of the ways to
# it, and all ways give the same answer.  SECURITY.md says what is refused.
# More of the kind: bits above the call's number and above each int; a 32-bit
# segment, a 32-bit program; numbers of no table; each namespace flag by itself;
# programs that need a door; a filter of its own that allows everything.
# shellcheck disable=SC2016,SC2086 # inner shells; no blanks
. selftest/payload/cell.sh

if [ "$(uname -m)" != x86_64 ]; then
	echo "1..0 # SKIP the entries that are tried are those of x86-64"
	exit 0
fi
build doors || { ok 1 "a program to try the doors"; done_testing; exit; }

cell -- /p/doors >"$work/in" 2>"$work/err"
ok $? "the payload came to its end" "$work/err"
space "$work/p/doors" >"$work/out" 2>"$work/err"
ok $? "and so did its control" "$work/err"
declare -A in out
while read -r name result; do
	in[$name]=$result
done <"$work/in"
while read -r name result; do
	out[$name]=$result
done <"$work/out"
both getpid.native ok ok "control: a call that is open"
both getpid.number ok ok "control: the same with bits above its number"

closed() {	# TEXT CONTROL RESULT...: of several ways
	local text=$1 control=$2 x
	shift 2
	n=$((n + 1))
	for x in "$@"; do
		if [ "$x" != "$1" ] || ! [[ $x =~ ^(EPERM|ENOSYS)$ ]]; then
			echo "not ok $n - $text"
			echo "# in the cell: $*"
			return
		fi
	done
	# Another refusal than the kernel's own is the filter's: it was reached.
	if [ "$1" != "$control" ] && [ -n "$control" ]; then
		echo "ok $n - $text"
	elif [ "$control" = ENOSYS ]; then
		echo "ok $n - $text; this kernel has none"
	else
		echo "ok $n - $text # SKIP its control can't work here: $control"
	fi
}
mapfile -t names < <(sed -n 's/\.native .*//p' "$work/in" |
    grep -vE '^(nr_|getpid$|getuid$)')
for w in "${names[@]}"; do
	closed "$w, also with bits above" "${out[$w.native]-}" \
	    "${in[$w.native]-}" "${in[$w.number]-}" \
	    ${in[$w.args]+"${in[$w.args]}"}
done

# --- the other entries --------------------------------------------------------------
if [ "${out[getpid.int80]-}" = ok ]; then
	both getpid.int80 ENOSYS ok "the 32-bit entry: a call that is open else"
	both getpid.far ENOSYS ok "the same from a 32-bit segment"
	for w in "${names[@]}"; do
		[ -n "${in[$w.int80]+x}" ] || continue
		# for what this kernel lacks, the two above have to do
		control=${out[$w.int80]/ENOSYS/lacking}
		closed "$w, by the 32-bit entry, also from such a segment" \
		    "$control" "${in[$w.int80]-}" "${in[$w.far]-}"
	done
else
	skip "the 32-bit entry" "this kernel has none"
fi
bad=$(grep '\.x32 ' "$work/in" | grep -vc ' ENOSYS$')
is "$bad" 0 "no call by a number of x32's"
case ${out[getpid.x32]-} in
ENOSYS)	ok 0 "control: outside there are none either, in this kernel" ;;
*)	is "${out[getpid.x32]-}" ok "control: outside there are some" ;;
esac
is "$(grep -c '^nr_' "$work/in"):$(grep '^nr_' "$work/in" | grep -vc ' ENOSYS$')" \
    24:0 "numbers that no table has"
if cc -m32 -O1 -ffreestanding -nostdlib -static -fno-pic -no-pie -fno-stack-protector \
    -o "$work/p/door32" selftest/payload/door32.c 2>"$work/err" &&
    [ "$("$work/p/door32" 2>/dev/null)" = hello ]; then
	got=$(cell -- /p/door32 2>&1)
	like "$?:$got" '1(29|3[0-9]):' "a 32-bit program can do nothing"
	"$work/p/door32" >"$work/out"
	is "$?:$(cat "$work/out")" 3:hello "control: outside it can"
else
	skip "a 32-bit program" "none can be built or run here"
fi

# --- by programs -----------------------------------------------------------------------
programs=('unshare -U true' 'unshare -r true' 'unshare -n true' 'unshare -m true'
    'unshare -p -f true' 'unshare -C true' 'unshare -T true'
    'nsenter -n -t $$ true' 'nsenter -u/proc/self/ns/uts true'
    'mount -t tmpfs none /tmp' 'mount --bind / /tmp' 'umount -l /tmp'
    'chroot / true' 'hostname x' 'dmesg' 'strace -f true' 'ip link set lo down'
    'bwrap --ro-bind / / true' 'setpriv --reuid 0 true'
    'gdb -batch -p $PPID -ex quit 2>&1 | grep -q "#0"')
reached=0
for w in "${programs[@]}"; do
	if ! command -v "${w%% *}" >/dev/null; then
		continue
	fi
	! cell -- sh -c "$w" >"$work/err" 2>&1
	ok $? "$w" "$work/err"
	space sh -c "$w" >/dev/null 2>&1 && reached=$((reached + 1))
done
[ $reached -ge 10 ]
ok $? "control: outside $reached of them work"

# --- loosening the filter ------------------------------------------------------------------
cat >"$work/p/loosen.py" <<'PY'
from attempt import *
import ctypes, struct, threading
def unshare():
    if os.fork() == 0:
        try:
            syscall(272, 0x10000000)
            os._exit(0)
        except OSError as e:
            os._exit(e.errno)
    s = os.waitstatus_to_exitcode(os.wait()[1])
    if s:
        raise OSError(s, "")
allow = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, 0x7fff0000))
prog = struct.pack("=HxxxxxxQ", 1, ctypes.addressof(allow))
attempt("first", unshare)
attempt("filter", syscall, 317, 1, 0, prog)
attempt("after_filter", unshare)
attempt("listener", lambda: syscall(317, 1, 8, prog))
attempt("after_listener", unshare)
attempt("personality", syscall, 135, 8)
attempt("after_personality", unshare)
t = threading.Thread(target=lambda: attempt("thread", unshare))
t.start()
t.join()
attempt("disable", syscall, 157, 22, 0, 0)
attempt("after_disable", unshare)
pid = os.fork()
if pid == 0:
    os.execv("/usr/bin/unshare", ["unshare", "-U", "true"])
say("exec", "ok" if os.waitpid(pid, 0)[1] == 0 else "EPERM")
with open("/proc/self/status") as f:
    say("seccomp", [x.split()[1] for x in f if x.startswith("Seccomp:")][0])
PY
cell -- $PY /p/loosen.py >"$work/in" 2>"$work/err"
space $PY "$work/p/loosen.py" >"$work/out" 2>&1
both filter ok ok "a filter of its own that allows everything"
for w in first after_filter after_listener after_personality thread \
    after_disable exec; do
	both $w EPERM ok "and still no user namespace: $w"
done
both disable EINVAL EINVAL "no filter can be taken away"
both seccomp 2 2 "filters are in force"
done_testing
