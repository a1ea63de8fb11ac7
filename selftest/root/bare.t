#!/bin/bash
# Cells that no helper makes: by bwrap, and plain processes.  Every answer of
# every example gets the verdict it should; what is said of protections is what
# they are; nothing is left, whoever is killed; and a hostile answer gets at
# nothing of the judge's (bwrap: of plain processes nothing is promised).
# BARE=quick: one answer of each kind of an example.
set -u

B=${BUILD:-build/release}
user=$((20000 + $$ % 20000))
if [ ! -e "$B/bailiff" ]; then
	echo "1..0 # SKIP $B has no bailiff"
	exit 0
fi
if [ "${1-}" != inside ]; then
	exec unshare -m --propagation private -- "$0" inside
fi
# shellcheck source=selftest/payload/tap.sh
. selftest/payload/tap.sh

# A place that ordinary users can reach, without a helper beside the program.
house=
for dir in /media /mnt /srv /opt; do
	[ -d $dir ] && [ ! -L $dir ] && house=$dir && break
done
umask 022
if ! mount -n -t tmpfs -o mode=755 bare.t "$house" ||
    ! mount -n -t tmpfs -o mode=1777 bare.t /tmp; then
	echo "1..0 # SKIP no tmpfs can be mounted here"
	exit 0
fi
cp "$B/bailiff" "$house/bailiff" && cp -r examples "$house/" || exit 1
mkdir -m 1777 "$house/open"
C=$house/bailiff
E=$house/examples
top=$PWD
cd "$house/open" || exit 1
unset DAYTONA_API_KEY BAILIFF_HELPER BAILIFF_SOCKET

who=()
as() {		# COMMAND...: by the one whose turn it is, a clean environment
	${who[@]+"${who[@]}"} env -i PATH=/usr/local/bin:/usr/bin:/bin \
	    HOME=/nonexistent LC_ALL=C.UTF-8 ${vars[@]+"${vars[@]}"} "$@" \
	    </dev/null
}
user() {
	who=(setpriv --reuid=$user --regid=$user --clear-groups)
}
root() {
	who=()
}
vars=()

run() {		# bailiff run --json ...: out, err, st
	as "$C" run --json "$@" >"$house/out" 2>"$house/err"
	st=$?
}
cell() {	# bailiff exec --json ...: the same
	as "$C" exec --json "$@" >"$house/out" 2>"$house/err"
	st=$?
}
ask() {		# EXPRESSION over d
	/usr/bin/python3 -c 'import json, sys
d = json.load(open(sys.argv[1], encoding="utf-8"))
print(eval(sys.argv[2]))' "$house/out" "$1" 2>&1
}
why() {
	ask '[d["error"][k] for k in ("kind", "code")]'
}

# Everything that a run has made of itself: processes and folders.  The user
# is nobody else's, and has nothing but what is started here.
left() {
	local d
	pgrep -a -u $user
	for d in /proc/[0-9]*; do
		[ "$(readlink "$d/exe" 2>/dev/null)" = "$C" ] ||
		    tr '\0' ' ' <"$d/cmdline" 2>/dev/null | grep -q "$marker" ||
		    continue
		tr '\0' ' ' <"$d/cmdline" 2>/dev/null
		echo "(${d#/proc/})"
	done
	find /tmp -mindepth 1 -maxdepth 1 -name 'bailiff-*'
}
marker=bare-t-$$
nothing_left() {	# NAME
	local i
	for i in {1..20}; do
		left 2>/dev/null >"$house/left"
		[ -s "$house/left" ] || break
		sleep 0.1
	done
	[ ! -s "$house/left" ]
	ok $? "$1" "$house/left"
}
seen='[d["protections"][k] for k in
    ("uid", "net", "mount", "pid", "ipc", "seccomp")] + [d["separation"],
    d["way"], len(d["warnings"]) > 0]'
bwrap_gives="[False, True, True, True, True, True, 'namespaces', 'bwrap', True]"
plain_gives="[False, False, False, False, False, True, 'none', 'plain', True]"

# --- what they say of themselves ---------------------------------------------

for turn in user root; do
	$turn
	cell --way bwrap -- sh -c 'id -u; id -g; pwd; hostname; cat /etc/hostname'
	is "$st" 0 "$turn: a command" || cat "$house/err"
	is "$(ask "$seen")" "$bwrap_gives" "$turn: bwrap: what is said of it"
	users="but all have one user"
	[ $turn != root ] || ! grep -q ' 4294967295$' /proc/self/uid_map ||
	    users="and a user, which nothing proves"
	like "$(ask 'd["warnings"][0]')" ".*namespaces of its own, $users .*" \
	    "$turn: bwrap: what is said of its cells' users"
	is "$(ask 'd["stdout"].split()[2:]')" "['/work', 'cell', 'cell']" \
	    "$turn: its folder and its name"
	cell --way plain --require none -- pwd
	is "$st" 0 "$turn: a plain command"
	is "$(ask "$seen")" "$plain_gives" "$turn: plain: what is said of it"
	like "$(ask 'd["stdout"]')" '/tmp/bailiff-....../work.*' \
	    "$turn: its folder"
	cell --way plain -- true
	is "$st $(why)" "125 ['setup', 'way_too_weak']" \
	    "$turn: plain has to be asked for with --require none"
	cell --way bwrap --require uid -- true
	is "$st $(why)" "125 ['setup', 'way_too_weak']" \
	    "$turn: bwrap has no uid to give"
	ask 'd["error"]["message"]' | grep -q 'bwrap gives no user of its own'
	ok $? "$turn: and says so" "$house/out"
	# nobody raises a hard limit of the caller's: what fails by it is no verdict
	for way in bwrap plain; do
		as prlimit --data=70000000 "$C" exec --json --way $way --require \
		    none --memory 1g -- true >"$house/out" 2>"$house/err"
		st=$?
		is "$st $(why)" "125 ['setup', 'limits_too_low']" \
		    "$turn: $way: a hard limit below --memory"
	done
done

user
cell -- true
is "$st $(ask 'd["way"]')" "0 bwrap" "auto: bwrap, where nothing better is"
is "$(ask '"by bwrap" in d["warnings"][0]')" True "with a warning"
as env "BUILD=$house" "$E/demo.sh" >"$house/out" 2>"$house/err"
ok $? "the demo" "$house/out" "$house/err"
is "$(grep -c '^  not by bwrap: ' "$house/out") $(grep -c ALLOWED "$house/out")" \
    "1 0" "and it says what this way does without"
nothing_left "nothing is left of them"

# --- the view ----------------------------------------------------------------

cat >"$house/view.py" <<'END'
import os, socket, stat
def refused(f, *a):
    try:
        f(*a)
    except OSError as e:
        return True
    return False
bad = []
def check(name, good):
    if not good:
        bad.append(name)
for top in ("/", "/etc", "/usr", "/dev", "/proc/sys/kernel", "/sys", "/var"):
    check("write " + top, refused(os.mkdir, top + "/x"))
for top in ("/tmp", "/var/tmp", "/run", "/work", "/dev/shm", os.environ["HOME"]):
    check("no room in " + top, not refused(os.mkdir, top + "/x"))
modes = {"/tmp": 0o1777, "/var/tmp": 0o1777, "/run": 0o755, "/work": 0o755,
         os.environ["HOME"]: 0o700, "/dev/shm": 0o1777, "/etc": 0o755}
for top, mode in modes.items():
    check("mode of " + top, stat.S_IMODE(os.stat(top).st_mode) == mode)
for name in ("keys", "key-users", "locks", "kallsyms", "timer_list"):
    if os.path.exists("/proc/" + name):
        check("read /proc/" + name, refused(open, "/proc/" + name))
check("core_pattern", refused(open, "/proc/sys/kernel/core_pattern", "w"))
for name in ("sys", "irq", "bus", "sysrq-trigger"):
    if os.path.exists("/proc/" + name):
        check("/proc/" + name, os.statvfs("/proc/" + name).f_flag &
              os.ST_RDONLY)
for name in ("/root", "/etc/shadow", "/boot", "/opt", "/srv", "/home/user",
             "/sys", "/run/dbus", "/dev/vda", "/dev/mem", "/dev/kmsg"):
    check("there is " + name, not os.path.exists(name))
check("names", open("/etc/passwd").read().split("\n")[1].startswith(
    "answer:x:%d:%d:" % (os.getuid(), os.getgid())))
check("host name", socket.gethostname() == "cell" and
      socket.gethostbyname("cell") == "127.0.0.1")
pids = [p for p in os.listdir("/proc") if p.isdigit()]
check("processes %r" % pids, len(pids) == 2)
check("interfaces", [n for _, n in socket.if_nameindex()] == ["lo"])
status = open("/proc/self/status").read()
for line in ("CapEff:\t0000000000000000", "CapBnd:\t0000000000000000",
             "NoNewPrivs:\t1", "Seccomp:\t2"):
    check(line, line in status)
check("descriptors", sorted(os.listdir("/proc/self/fd"))[:4] == list("0123"))
import resource, sys
check("core", resource.getrlimit(resource.RLIMIT_CORE)[1] == 1)
# a user's cells are that user, whose programs share what is on its way
check("nofile", resource.getrlimit(resource.RLIMIT_NOFILE)[1] ==
      int(sys.argv[1]))
fits = refused(open("/work/big", "wb").write, b"x")
try:
    with open("/work/big", "wb") as f:
        for i in range(64):
            f.write(b"x" * (1 << 20))
    check("disk", False)
except OSError:
    pass
for bit in (0x10000000, 0x20000, 0x40000000):     # USER, NS, NET
    import ctypes
    check("unshare", ctypes.CDLL(None).unshare(bit) == -1)
print(bad)
END
mkdir -p "$house/shown/bin" && echo text >"$house/shown/file"
for turn in user root; do
	$turn
	[ $turn = root ] && files=1024 || files=512
	cell --way bwrap --put "$house/view.py:view.py" --disk 16m \
	    -- python3 view.py $files
	is "$st $(ask 'd["stdout"]')" "0 []" "$turn: the view is the helper's" || cat "$house/out"
	cell --way bwrap --ro-bind "$house/shown:/data/shown" --tmpfs /scratch \
	    --expose "$house/shown" -- sh -c "cat /data/shown/file
	    cat $house/shown/file; echo x >/scratch/x && cat /scratch/x
	    ! touch /data/shown/x 2>/dev/null && ! touch /data/x 2>/dev/null"
	is "$st $(ask 'd["stdout"].split()')" "0 ['text', 'text', 'x']" \
	    "$turn: folders that are added"
	for dst in /work/in /usr/x /etc/ssl /home /proc/x; do
		cell --way bwrap --ro-bind "$house/shown:$dst" -- true
		is "$st $(why)" "125 ['setup', 'place_refused']" \
		    "$turn: none at $dst"
	done
	for src in /proc /proc/sys /sys /dev/pts /sys/fs/cgroup/*/; do
		case $(stat -f -c %t "$src" 2>/dev/null) in
		9fa0|62656572|1cd1|27e0eb|63677270) ;;
		*) continue ;;		# is not mounted here
		esac
		cell --way bwrap --ro-bind "$src:/data" -- true
		is "$st $(why) $(ask 'd["error"]["step"]')" \
		    "125 ['setup', 'place_refused'] cell/place" \
		    "$turn: nothing of $src"
	done
	cell --way bwrap --expose /proc/sys/kernel -- true
	is "$st $(why)" "125 ['setup', 'place_refused']" \
	    "$turn: nor exposed, by whatever rule"
done
# What a cell's user has on its way counts for all that user's programs: an
# answer may have so little of it that they can still send.
cat >"$house/flood.py" <<'END'
import array, socket, sys
kept = []
try:
    while len(kept) < 1000:
        a, b = socket.socketpair()
        # just below what it may have, and then once more
        a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
            array.array("i", [0] * (128 if len(kept) < 4 else 253)))])
        kept.append((a, b))
except OSError as e:
    print(e.errno, flush=True)
if len(sys.argv) == 1:
    import threading
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    del kept[:]
    def send():
        try:
            a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                                array.array("i", [0] * 250))])
        except OSError:
            pass
    while True:         # until its queue is full
        try:
            a.sendmsg([b"x"], [], socket.MSG_DONTWAIT)
        except OSError:
            break
    for i in range(64):
        threading.Thread(target=send, daemon=True).start()
    import time
    time.sleep(0.3)
    for i in range(16):  # their turn
        b.recv(1)
if len(sys.argv) > 1:
    sys.stdin.read()
else:
    def f(x): return x + 1
END
cat >"$house/send.py" <<'END'
import array, socket
a, b = socket.socketpair()
a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))])
print("sent")
END
mkdir "$house/flood" && cat >"$house/flood/verifier.py" <<'END'
import bailiff, json
s = bailiff.load("solution.py")
r = bailiff.run(["python3", "-c", "print(7)"])
good = s.f(1) == 2 and r.stdout == b"7\n"
print(json.dumps({"score": float(good), "passed": good}))
END
echo flood >"$house/flood/task.md"
user
for soft in 1024 4096; do
	mkfifo "$house/go.$soft"
	rm -f "$house/flooded"
	(ulimit -Sn $soft; exec 0<>"$house/go.$soft"; as() {
	    "${who[@]}" env -i PATH=/usr/bin:/bin HOME=/ "$@"; }
	 as "$C" exec --way bwrap --put "$house/flood.py:flood.py" -- \
	    python3 flood.py wait) >"$house/flooded" 2>"$house/err" &
	flooder=$!
	for _ in {1..100}; do
		[ -s "$house/flooded" ] && break
		sleep 0.05
	done
	is "$(cat "$house/flooded")" 109 "soft $soft: a cell sends all it may"
	is "$(ulimit -Sn $soft; as /usr/bin/python3 "$house/send.py" 2>&1 |
	    tail -n 1)" sent "soft $soft: its user's programs can send"
	(ulimit -Sn $soft; cell --way bwrap -- echo here; echo $st) >"$house/st"
	is "$(cat "$house/st") $(ask 'd["stdout"]')" "0 here" \
	    "soft $soft: other cells can be had"
	kill $(pgrep -P $flooder) $flooder 2>/dev/null
	wait $flooder 2>/dev/null
	(ulimit -Sn $soft; run --way bwrap "$house/flood" --answer \
	    "$house/flood.py"; echo $st) >"$house/st"
	is "$(cat "$house/st") $(ask 'd["verdict"]')" "0 passed" \
	    "soft $soft: an answer that does so has its verdict"
done
# So does what epoll(7) watches: bailiff needs none of it, whoever uses it up.
watches=/proc/sys/fs/epoll/max_user_watches
cat >"$house/watch.py" <<'END'
import os, select, sys, time
if sys.argv[1:] != ["hog"]:
    time.sleep(1)
    try:
        select.epoll().register(os.pipe()[0], 1)
        print("none was used up")
    except OSError as x:
        print("wrong", x.errno)
    sys.exit()
e = select.epoll()
r = os.pipe()[0]
try:
    while True:
        e.register(os.dup(r), 1)
except OSError as x:
    time.sleep(4 if x.errno == 28 else 0)
END
mkdir "$house/watched" && cat >"$house/watched/verifier.py" <<'END'
import bailiff, json
r = bailiff.run_many([["python3", "solution.py", "hog"]] +
                     [["python3", "solution.py"]] * 3)
good = all(x.stdout == b"right\n" for x in r)
print(json.dumps({"score": float(good), "passed": good,
                  "details": repr([x.stdout for x in r])}))
END
echo watch >"$house/watched/task.md"
if was=$(cat $watches 2>/dev/null) && [ -w $watches ]; then
	trap 'echo "$was" >$watches' EXIT
	echo 200 >$watches
	run --way bwrap "$house/watched" --answer "$house/watch.py"
	echo "$was" >$watches
	trap - EXIT
	is "$st $(ask 'd["verdict"]')" "1 failed" \
	    "an answer that uses up what epoll watches: its verdict"
	like "$(ask 'd["details"]')" ".*wrong 28.*" "control: it did"
else
	skip "an answer that uses up what epoll watches" "its limit can't be set"
fi
# Whose file it is waits for one who holds a lease on it, F_SETLEASE.
as sh -c 'umask 077; mkdir -p '"$house/open/own"' && echo x >'"$house/open/own/f"
cell --way bwrap --ro-bind "$house/open/own:/data/own" -- python3 -c '
import fcntl, os
fcntl.fcntl(os.open("/data/own/f", os.O_RDONLY), 1024, fcntl.F_RDLCK)'
like "$(ask 'd["stderr"]')" '.*PermissionError.*Errno 13.*' \
    "no lease on its user's files"
as /usr/bin/python3 -c 'import fcntl, os, sys
fcntl.fcntl(os.open(sys.argv[1], os.O_RDONLY), 1024, fcntl.F_RDLCK)' \
    "$house/open/own/f" 2>"$house/err"
ok $? "control: outside it can have one" "$house/err"
# root's runs: the first cell of each is somebody else than the last run's
root
for i in 1 2 3 4; do
	cell --way bwrap -- id -u
	ask 'd["stdout"].strip()'
done | sort -u >"$house/ids"
[ "$(wc -l <"$house/ids")" -gt 1 ]
ok $? "root: users that differ between runs" "$house/ids"
# Root of a container, where there are no numbers for them: its cells have one
# user, so that what an answer has on its way counts there, too.
cat >"$house/few" <<'END'
#!/bin/bash
unshare -U sleep 600 >/dev/null 2>&1 &
p=$!
for _ in {1..100}; do
	[ "$(readlink /proc/$p/ns/user)" != "$(readlink /proc/self/ns/user)" ] &&
	    break
	sleep 0.02
done
echo "0 100000 65536" >/proc/$p/uid_map && echo "0 100000 65536" >/proc/$p/gid_map
nsenter -U -t $p -S 0 -G 0 "$@"
st=$?
kill $p
exit $st
END
who=(bash "$house/few")
if as true 2>"$house/err"; then
	cell --way bwrap -- true
	is "$st" 0 "root of 65,536 users: a cell"
	(ulimit -Sn 1024; run --way bwrap "$house/flood" --answer \
	    "$house/flood.py"; echo $st) >"$house/st"
	is "$(cat "$house/st") $(ask 'd["verdict"]')" "0 passed" \
	    "root of 65,536 users: an answer that floods has its verdict"
else
	sed 's/^/# /' "$house/err"
	echo "ok $((++n)) - root of 65,536 users # SKIP no such namespace here"
fi
user
cell --way bwrap --timeout 1 -- sleep 100
is "$st $(ask 'd["limit"]')" "124 time" "its time is kept"
cell --way bwrap --memory 64m -- python3 -c 'b"x" * (1 << 28)'
is "$st" 1 "its memory is"
cell --way bwrap --memory 1t -- true
is "$st $(why)" "125 ['setup', 'limit_above_rules']" \
    "the built-in rules bound what is asked for"
who=(setpriv --reuid=$user --regid=$user --groups=$((user + 1)),$user nice -n 5)
cell --way bwrap -- true
is "$st" 0 "in more groups than one, and nice"
user
cell --way plain --require none --ro-bind "$house/shown:/data" -- true
is "$st $(why)" "125 ['setup', 'place_refused']" "plain: no folder elsewhere"
cell --way plain --require none --expose "$house/shown" \
    --put "$house/shown/file:/work/a/b" -- \
    sh -c "cat a/b $house/shown/file; cat \"\$1\"" sh /work/a/b
is "$st $(ask 'd["stdout"].split()')" "0 ['text', 'text', 'text']" \
    "plain: files, and folders where they are"
cell --way plain --require none -- sh -c \
    'mkdir -p d/e/f; ln -s /etc d/l; : >d/e/g; chmod 0 d/e; chmod 500 d
    setsid sleep 1000 & (setsid sleep 1000 &); kill -9 -1 2>/dev/null
    exit 5'
is "$st $(ask 'd["separation"]')" "5 none" "plain: what it started"
nothing_left "ends with it, and its folder too"
cat >"$house/zombies.py" <<'END'
import os, time
for i in range(150):
    if os.fork() == 0:
        if os.fork() == 0:
            time.sleep(0.3)
        os._exit(0)
for i in range(150):
    os.wait()
time.sleep(1)
n = 0
for p in filter(str.isdigit, os.listdir("/proc")):
    try:
        f = open("/proc/%s/stat" % p).read().rpartition(")")[2].split()
    except OSError:
        continue
    n += f[0] == "Z" and int(f[1]) == os.getppid()
print(n)
END
cell --way plain --require none --put "$house/zombies.py:z.py" -- python3 z.py
is "$st $(ask 'd["stdout"].strip()')" "0 0" "plain: init waits for orphans"
cat >"$house/headless.py" <<'END'
import ctypes, os, threading, time
if os.fork() == 0:
    threading.Thread(target=time.sleep, args=(1000,)).start()
    ctypes.CDLL(None).syscall({"x86_64": 60}.get(os.uname().machine, 93), 0)
time.sleep(0.3)
END
SECONDS=0
cell --way plain --require none --put "$house/headless.py:h.py" -- python3 h.py
[ $st = 0 ] && [ $SECONDS -lt 10 ]
ok $? "plain: a process whose first thread has ended" "$house/out"
nothing_left "ends too"
vars=("TMPDIR=$house/open")
cell --way plain --require none -- pwd
like "$(ask 'd["stdout"]')" "$house/open/bailiff-....../work" "plain: TMPDIR"
vars=()

# --- why not -----------------------------------------------------------------

if mount -n --bind /dev/null "$(realpath /usr/bin/bwrap)" 2>/dev/null; then
	cell --way bwrap -- true
	is "$st $(why)" "125 ['setup', 'way_missing']" "no bwrap"
	ask 'd["error"]["message"]' | grep -q 'apt install bubblewrap'
	ok $? "and what to do" "$house/out"
	mkdir "$house/path" && printf '#!/bin/sh\nexec true\n' \
	    >"$house/path/bwrap" && chmod 755 "$house/path/bwrap"
	vars=("PATH=$house/path:/usr/bin:/bin")
	cell --way bwrap -- true
	is "$st" 125 "one in PATH is not taken"
	vars=()
	cell --mode local --require none -- true
	is "$st $(ask 'd["way"]')" "0 plain" \
	    "--mode local --require none: plain where nothing else is"
	cell --require none -- true
	is "$st $(why)" "125 ['setup', 'helper_missing']" "not without the mode"
	cell -- true
	is "$st $(why)" "125 ['setup', 'helper_missing']" "and else nothing"
	printf '#!/bin/sh\necho "bwrap: no permission" >&2; exit 1\n' \
	    >"$house/path/bwrap"
	umount "$(realpath /usr/bin/bwrap)"
	mount -n --bind "$house/path/bwrap" "$(realpath /usr/bin/bwrap)"
	cell --way bwrap -- true
	is "$st $(why)" "125 ['setup', 'cell_start']" "a bwrap that can't"
	ask 'd["error"]["message"]' | grep -q 'bwrap: no permission'
	ok $? "its words are passed on" "$house/out"
	cell --mode local --require none -- true
	is "$st $(why)" "125 ['setup', 'cell_start']" "and nothing weaker follows"
	umount "$(realpath /usr/bin/bwrap)"
else
	skip "no bwrap" "nothing can be mounted over it"
fi

# programs in memory, which the kernel can forbid in one pid namespace alone
noexec=(unshare -p -f --kill-child --mount-proc bash -c 'echo 2 \
    >/proc/sys/vm/memfd_noexec || exit 99; "$@"; exit' -)
if [ -e /proc/sys/vm/memfd_noexec ] && "${noexec[@]}" true 2>/dev/null; then
	for turn in user root; do
		$turn
		who=("${noexec[@]}" ${who[@]+"${who[@]}"})
		for way in bwrap plain; do
			cell --way $way --require none -- true
			is "$st $(why) $(ask '[d["error"][k] for k in
			    ("object", "hint")]')" \
			    "125 ['setup', 'cell_start'] \
['/proc/sys/vm/memfd_noexec', 'programs in memory must be allowed; as root: \
sysctl -w vm.memfd_noexec=1']" "$turn: $way: no programs in memory"
		done
	done
else
	skip "no programs in memory" "the kernel can't forbid them"
fi
cp "$(realpath /usr/bin/bwrap)" "$house/bwrap" && chmod 744 "$house/bwrap"
if mount -n --bind "$house/bwrap" "$(realpath /usr/bin/bwrap)"; then
	root
	cell --way bwrap -- true
	is "$st $(why) $(ask '[d["error"]["object"],
	    "chmod 755" in d["error"]["hint"]]')" \
	    "125 ['setup', 'cell_start'] ['/usr/bin/bwrap', True]" \
	    "root: a bwrap that its cells' users can't execute"
	umount "$(realpath /usr/bin/bwrap)"
else
	skip "a bwrap for root alone" "nothing can be mounted over it"
fi
user

# --- run: every example, every answer ----------------------------------------

expected() {	# EXAMPLE ANSWER
	case $2 in
	reference*) echo '0 passed True 1' ;;
	*) awk -F '\t' -v e="$1" -v a="$2" '
		$1 == e && $2 == a && $3 == "passed" {
			print "0 passed True " $4 }
		$1 == e && $2 == a && $3 == "failed" {
			print "1 failed False " $4 }' "$E/expected.tsv" ;;
	esac
}
judged=0
examples() {	# WAY GIVES PATTERN OPTION...
	local way=$1 gives=$2 only=$3 env example answer name
	shift 3
	for env in "$E"/*/; do
		example=$(basename "$env")
		for answer in "$env"answers/* "$env"reference_solution*; do
			name=$(basename "$answer")
			[[ -e $answer && $name =~ ^($only) ]] || continue
			run "$env" --answer "$answer" --way "$way" "$@"
			judged=$((judged + 1))
			is "$st $(ask '"%s %s %.4g" % (d["verdict"],
			    d["passed"], d["score"])') $(ask "$seen")" \
			    "$(expected "$example" "$name") $gives" \
			    "${who[1]:-root}: $way: $example: $name"
		done
	done
}
every='.'
[ -z "${BARE-}" ] || every='right_[a-c]|hostile_[a-g]|reference'
user
examples bwrap "$bwrap_gives" "$every"
root
examples bwrap "$bwrap_gives" 'right_[a-l]|hostile_[a-g]'
# a hostile one may do here whatever it likes
user
examples plain "$plain_gives" 'right_[a-l]|wrong_[a-m]|crash_[a-l]|reference' \
    --require none
root
examples plain "$plain_gives" 'right_[a-l]' --require none
[ -n "${BARE-}" ] || [ $judged -gt 200 ]
ok $? "there were examples: $judged"
nothing_left "nothing is left of any"

# --- options of run ----------------------------------------------------------

user
env=$E/two_sum
right=$env/answers/right_table.py
run "$env" --answer "$right" --way bwrap --judge-mode shared
is "$st $(ask 'd["separation"]')" "0 none" "the answer in the judge's process"
run "$env" --answer "$right" --way bwrap --judge-net host
is "$st $(ask 'd["failure_reason"]')" "3 way_too_weak" \
    "no judge with the host's network"
run "$E/package" --answer "$E/package/answers/$(cd "$E/package/answers" &&
    ls | grep -m1 ^right)" --way bwrap --artifacts "$house/open/art"
is "$st" 0 "a folder as the answer, and artifacts"

mkdir -p "$house/fresh" && cp "$env/task.md" "$house/fresh/"
cat >"$house/fresh/verifier.py" <<'END'
#!/usr/bin/python3
import json, os, subprocess, sys
from concurrent.futures import ThreadPoolExecutor
def one(i):
    p = subprocess.run([os.environ["BAILIFF_ANSWER"], "--fresh", "--",
        "sh", "-c", "cat x 2>/dev/null; echo $$ >x; echo ok"],
        capture_output=True, text=True)
    return p.stdout
with ThreadPoolExecutor(4) as pool:
    got = list(pool.map(one, range(8)))
good = got == ["ok\n"] * 8
print(json.dumps({"score": 1.0 if good else 0.0, "passed": good,
                  "details": repr(got)}))
END
chmod 755 "$house/fresh/verifier.py"
for way in bwrap plain; do
	need=()
	[ $way = bwrap ] || need=(--require none)
	run "$house/fresh" --answer "$right" --way $way "${need[@]}"
	is "$st $(ask 'd["verdict"]')" "0 passed" "$way: fresh cells" ||
		cat "$house/out"
done
nothing_left "nothing is left of those"

run "$env" --answer "$right" --way bwrap --keep
is "$st $(ask 'd["verdict"]')" "0 passed" "cells that are kept"
holder=$(pgrep -u $user -x bailiff-holder)
[ -n "$holder" ] && [ "$(pgrep -u $user -x bwrap | wc -l)" = 2 ]
ok $? "are there: holder ${holder:-none}" "$house/err"
[ -z "$holder" ] || kill $holder
nothing_left "and end with their holder"

# --- hostile -----------------------------------------------------------------

mkdir -p "$house/hostile" && cp "$env/task.md" "$house/hostile/"
cat >"$house/hostile/verifier.py" <<'END'
#!/usr/bin/python3
"""Has something that the answer may be after, and looks what it got."""
import json, os, socket, subprocess, sys, threading
secret = "s3cr3t-%d" % os.getpid()
for path in ("/work/secret", "/tmp/secret", "/run/secret", "/dev/shm/secret",
             os.environ["HOME"] + "/secret"):
    with open(path, "w") as f:
        f.write(secret)
tcp = socket.create_server(("127.0.0.1", 4711))
six = socket.create_server(("::1", 4711), family=socket.AF_INET6)
named = socket.socket(socket.AF_UNIX)
named.bind("/tmp/server")
abstract = socket.socket(socket.AF_UNIX)
abstract.bind("\0judge")
for s in named, abstract:
    s.listen()
met = []
def serve(s):
    while True:
        c, _ = s.accept()
        met.append(s.family)
        c.sendall(secret.encode())
        c.close()
for s in tcp, six, named, abstract:
    threading.Thread(target=serve, args=(s,), daemon=True).start()
sleeper = subprocess.Popen(["sleep", "1000"])
p = subprocess.run([os.environ["BAILIFF_ANSWER"], "-t", "20", "--", "python3",
                    sys.argv[1], str(os.getpid()), str(sleeper.pid)],
                   capture_output=True, text=True)
tried = p.stdout.splitlines()
bad = [t for t in tried if not t.startswith("held ")]
alive = sleeper.poll() is None
sleeper.kill()
# what the answer could make of files that it has no right to
again = subprocess.run([os.environ["BAILIFF_ANSWER"], "--", "echo", "there"],
                       capture_output=True, text=True).stdout
good = not bad and alive and not met and again == "there\n" and \
    p.returncode == 0 and tried[-1:] == ["held end"] and \
    secret not in p.stdout and secret not in p.stderr
print(json.dumps({"score": 1.0 if good else 0.0, "passed": good, "details":
                  repr((bad, alive, met, again, p.returncode, p.stderr))}))
END
chmod 755 "$house/hostile/verifier.py"
cat >"$house/grab.py" <<END
import ctypes, os, resource, signal, socket, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
def held(name, f):
    try:
        got = f()
    except (OSError, ValueError, LookupError):
        print("held", name, flush=True)
    else:
        print("REACHED", name, repr(got)[:200], flush=True)
def call(nr, *a):
    if libc.syscall(nr, *a) == -1:
        raise OSError(ctypes.get_errno(), "")
for top in ("/work", "/tmp", "/run", "/dev/shm", "/home/judge"):
    held(top, lambda: open(top + "/secret").read())
held("judge's home", lambda: os.listdir("/home/judge"))
held("host's file", lambda: open("$house/out").read())
held("host's tmp", lambda: [n for n in os.listdir("/tmp")][0])
for pid in map(int, sys.argv[1:]):
    # a number of the judge's is nobody's here, or this program's own
    if pid > 2 and pid != os.getpid():
        held("kill %d" % pid, lambda: os.kill(pid, signal.SIGKILL))
    held("memory of %d" % pid, lambda: open("/proc/%d/mem" % pid, "rb+")
         if pid not in (2, os.getpid()) else open("/none"))
for p in (1, os.getppid()):
    for name in "environ", "mem", "maps", "cwd/work", "root/work", "fd", "ns/net":
        path = "/proc/%d/%s" % (p, name)
        held(path, lambda: open(path, "rb").read(1) if name not in
             ("fd", "ns/net") else os.listdir(path) if name == "fd" else
             os.readlink(path))
    held("limits of %d" % p, lambda: resource.prlimit(p,
        resource.RLIMIT_NOFILE, (0, 0)))
    held("nice %d" % p, lambda: os.setpriority(os.PRIO_PROCESS, p, 19))
    held("cpu of %d" % p, lambda: os.sched_setaffinity(p, {0}))
    held("idle %d" % p, lambda: os.sched_setscheduler(p, os.SCHED_IDLE,
        os.sched_param(0)))
    held("ptrace %d" % p, lambda: call(101, 16, p, 0, 0))
held("nice all", lambda: os.setpriority(os.PRIO_USER, 0, 19))
os.kill(1, signal.SIGKILL)      # nothing comes of any
os.kill(1, signal.SIGTERM)
os.kill(1, signal.SIGSTOP)
for host in "127.0.0.1", "::1", "10.0.0.1", "192.0.2.1":
    held("tcp " + host, lambda: socket.create_connection((host, 4711), 0.5))
def unix(path):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    return s.recv(100)
held("abstract", lambda: unix("\0judge"))
held("named", lambda: unix("/tmp/server"))
held("run", lambda: unix("/run/bailiff/run.sock"))
held("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
held("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
held("userns", lambda: call(272, 0x10000000))
held("mount", lambda: call(165, b"none", b"/tmp", b"tmpfs", 0, 0))
held("remount", lambda: call(165, b"none", b"/usr", None, 0x20 | 0x1000, 0))
held("keys", lambda: call(250, 0, -3, 0))
held("setuid 0", lambda: os.setuid(0))
held("mknod", lambda: os.mknod("/work/vda", 0o60666, os.makedev(254, 0)))
for name in ("kernel/core_pattern", "kernel/hostname", "net/ipv4/ip_forward"):
    held(name, lambda: open("/proc/sys/" + name, "w"))
held("host name", lambda: socket.sethostname("x"))
# what it leaves is gone before the next one starts
for i in range(20):
    subprocess.Popen(["sh", "-c", "sleep 1000; :", "$marker"],
                     start_new_session=True)
held("end", lambda: open("/none"))
END
for turn in user root; do
	$turn
	run "$house/hostile" --answer "$house/grab.py" --way bwrap
	is "$st $(ask 'd["details"]')" \
	    "0 ([], True, [], 'there\\n', 0, '')" \
	    "$turn: bwrap: a hostile answer gets at nothing" || cat "$house/out"
done
user
nothing_left "and leaves nothing"
# Who ends as soon as somebody else goes on is hard to meet.
cat >"$house/run.py" <<END
import os, sys
for i in range(40):
    if os.fork() == 0:
        os.setsid()
        while os.fork() == 0 and os.fork() == 0:
            pass
        os.execvp("sh", ["sh", "-c", "sleep 1000; :", "$marker"])
END
cell --way plain --require none --pids 4096 --put "$house/run.py:run.py" -- \
    python3 run.py
is "$st" 0 "plain: programs that run away"
nothing_left "are ended"
cell --way plain --require none --pids 20 -- python3 -c 'import os
n = 0
try:
    while n < 100 and os.fork() > 0:
        n += 1
except OSError:
    print(10 < n < 20)'
is "$(ask 'd["stdout"].split()[-1]')" True "plain: its number of processes is"
cell --way plain --require none --timeout 1 -- sh -c \
    'setsid sleep 1000 & trap "" TERM; while :; do sleep 1000; done'
is "$st $(ask 'd["limit"]')" "124 time" "plain: its time is kept"
nothing_left "and nothing is left of that"
cell --way plain --require none -- sh -c 'kill -9 $PPID; echo $?; kill -9 -1
    echo $?; kill -9 -$PPID; echo $?'
is "$(ask 'd["stdout"].split()')" "['1', '1', '1']" \
    "plain: not its init, nor all that the user has"

# --- the end of anybody ------------------------------------------------------

cat >"$house/slow.py" <<END
def two_sum(*a):
    import subprocess
    subprocess.Popen(["sh", "-c", "sleep 1000; :", "$marker"],
                     start_new_session=True)
    subprocess.run(["sleep", "1000"])
END
children_of() {	# PID: all below it
	local p
	for p in $(pgrep -P "$1"); do
		echo "$p"
		children_of "$p"
	done
}
# The victim, of a run whose client is $1.
client() { echo "$1"; }
bwrap() { children_of "$1" | while read -r p; do
	grep -qzx bwrap "/proc/$p/cmdline" && echo "$p" && break; done; }
init() { children_of "$1" | while read -r p; do
	tr '\0' ' ' <"/proc/$p/cmdline" | grep -qE ' (cell|plain /.*) $' &&
	    echo "$p" && break; done; }
killed() {	# WAY WHOM DELAY
	local pid victim i
	as "$C" run "$env" --answer "$house/slow.py" --way "$1" \
	    $([ "$1" = plain ] && echo --require none) >/dev/null 2>&1 &
	pid=$!
	sleep "$3"
	for i in {1..40}; do
		victim=$($2 $pid)
		[ -n "$victim" ] && break
		sleep 0.01
	done
	[ -z "$victim" ] || kill -KILL "$victim" 2>/dev/null
	[ "$2" = client ] || { sleep 0.2; kill -KILL $pid 2>/dev/null; }
	wait $pid 2>/dev/null
	nothing_left "$1: $2 is killed after $3 s"
}
user
who+=(env)	# so that $! is the client's own number
as() { exec ${who[@]+"${who[@]}"} -i PATH=/usr/local/bin:/usr/bin:/bin "$@" </dev/null; }
# An init that is slow to remove its folder: it stands still meanwhile.
as "$C" exec --way plain --require none -- sleep 1000 >/dev/null 2>&1 &
pid=$!
for i in {1..100}; do
	victim=$(init $pid)
	[ -n "$victim" ] && pgrep -P "$victim" -x sleep >/dev/null && break
	sleep 0.05
done
kill -STOP "$victim" && kill -TERM $pid
sleep 10
kill -CONT "$victim"
ok $? "plain: init is not killed while it removes its folder"
wait $pid 2>/dev/null
nothing_left "and removes it"
for at in 0 0.003 0.01 0.02 0.05 0.2 1; do
	for whom in client bwrap init; do
		killed bwrap $whom $at
	done
	killed plain client $at
done
echo "1..$n"
