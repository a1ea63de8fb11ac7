#!/bin/bash
# C06. Other runs at the same time: no user number, namespace, limit or folder
# is shared, and neither of two runs notices the other.
# More of the kind: priorities by user, of the disk, processors and limits of
# others; listings of locks and of groups; the other has used up the machine's
# aio contexts and terminals, its inotify, queues, timers, disk; the null device
# as input of both; and what is known to be shared.
# shellcheck disable=SC2086 # no blanks
. selftest/payload/cell.sh

# meeting IN STAYER... @ COMER...: the stayer's words are in stay.IN
meeting() {
	local file=$1 stayer=()
	shift
	while [ "$1" != @ ]; do
		stayer+=("$1")
		shift
	done
	shift
	rm -f "$work/go"
	mkfifo "$work/go"
	: >"$work/$file"
	talk "${stayer[@]}"
	while hear '.*' && echo "$line" >>"$work/stay.$file" &&
	    [[ $line != ready* ]]; do :; done
	local uid pid i
	read -r _ uid pid _ <<<"$line"	# its number for the machine
	[ "$(stat -c %u "/proc/$pid" 2>/dev/null)" = "$uid" ] ||
	    pid=$(ps -o pid= -U "$uid" | head -n 1)
	# shellcheck disable=SC2086 # words
	"$@" ${pid:-0} $line <"$work/go" >"$work/$file" 2>&1 &
	local comer=$!
	exec {go}>"$work/go"
	for ((i = 0; i < 200 * slow; i++)); do
		grep -qE '^done|rror' "$work/$file" && break
		sleep 0.1
	done
	tell ''
	hush "stay.$file"
	exec {go}>&-
	wait $comer
}

mkdir -m 0777 "$work/open/f"
# What the control leaves outlives its processes.
leave_nothing() {
	local key=$((0x5e000000 | $$))
	plain $PY -c "import ctypes
ctypes.CDLL(None).mq_unlink(b'/bailiff-others-$$')"
	plain ipcrm -M $key -S $key -Q $key 2>"$work/ipcrm"
	rm -rf "$work"
}
trap leave_nothing EXIT

meeting out plain $PY "$work/p/others.py" stay $$ "$work/open/f" @ \
    plain $PY "$work/p/others.py" come $$ "$work/open/f"
meeting in cell -- $PY /p/others.py stay $$ /tmp @ \
    others_cell --pids 100 --disk 32m -- $PY /p/others.py come $$ /tmp

both uid other same "user numbers"
for w in net mnt pid ipc uts cgroup; do
	both ns_$w other same "namespaces: $w"
done
for w in port name shm queue; do
	both take_$w ok 'EADDRINUSE|EEXIST' "both have the same: $w"
done
both take_file ok EEXIST "both have the same: a name in /tmp"
both take_lock ok EAGAIN "both have the same: a lock on it"
both processes 0 '[1-9].*' "processes in a listing"
both signal 0 1 "signals: each to each number, and to the machine's number"
both signal_0 0 1 "signals: whether it is there"
both signal_queue 0 1 "signals with a value"
both signal_thread 0 1 "signals to a thread"
both signal_pidfd 0 1 "signals by descriptor"
both signal_group 0 '.*' "signals to a group"
is "$(said in signal_all)" ESRCH "signals to everybody"
both priority 0 1 "priority of each number"
both priority_user 0 '.*' "priority of its user"
both io_priority 0 '.*' "priority of its user's disk access"
both affinity 0 1 "processors of each number"
both limit 0 1 "limits of each number"
lack=		# where Yama keeps all tracing to root
[ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null)" -ge 2 ] 2>/dev/null &&
    lack=0
both memory 0 1 "memory of each number" "$lack"
both environ 0 1 "environment of each number"
both oom 0 1 "place in the queue for the memory killer"
both locks 0 '[1-9].*' "locks of others in a listing"
both cgroup root '.*' "its place among the machine's groups"

# What the other one noticed of all that, and of everything being used up.
for w in aio ptys inotify queues semaphores timers processes disk; do
	echo "# used up: $(said in used_$w) $w"
done
like "$(said in used_processes)" '[1-9][0-9]' "control: processes were used up"
like "$(said in used_disk)" '[1-9]|[1-9][0-9]' "control: the disk was filled"
mv "$work/stay.in" "$work/in"
mv "$work/stay.out" "$work/out"
both signals none '.*10,.*' "signals that came"
both settings same changed "priority, processors and limits"
for w in fork file queue inotify semaphores pipe timer pty; do
	is "$(said in then_$w)" ok "the other has used up all: $w"
done
like "$(said in then_aio)" 'ok|ENOSYS' "the other has used up all: aio"

# The null device as standard input: it is not one and the same for both.
cat >"$work/p/null.py" <<'PY'
from attempt import *
import fcntl, os, sys, time
attempt("null", fcntl.flock, 0, fcntl.LOCK_EX | fcntl.LOCK_NB)
until = time.monotonic() + float(sys.argv[1])
while time.monotonic() < until and not os.path.exists(sys.path[0] + "/done"):
    time.sleep(0.05)
PY
locked() {	# FILE COMMAND...: the first holds it until the second is done
	local file=$1
	shift
	: >"$work/first"
	"$@" 25 </dev/null >"$work/first" 2>&1 &
	for ((i = 0; i < 200 * slow; i++)); do
		[ -s "$work/first" ] && break
		sleep 0.05
	done
	"$@" 0 </dev/null >"$work/$file" 2>&1
	: >"$work/p/done"
	wait $!
	rm "$work/p/done"
}
locked in cell -- $PY /p/null.py
locked out plain $PY "$work/p/null.py"
both null ok EAGAIN "a lock on what is standard input for both"

# --- residual: shared read-only inodes (SECURITY.md) ---------------------------
# Two runs that want to can tell each other a bit by them; neither can take
# something from the other that it needs.
cat >"$work/p/inode.py" <<'PY'
from attempt import *
import fcntl, select, sys
f = os.open("/usr/bin/env", os.O_RDONLY)
if sys.argv[1] == "first":
    fcntl.flock(f, fcntl.LOCK_EX)
    i = syscall(294, 0)
    syscall(254, i, b"/usr/share", 0x20)    # inotify: opened
    say("ready")
    say("inotify", "event" if select.select([i], [], [], 20)[0] else "none")
else:
    attempt("flock", fcntl.flock, f, fcntl.LOCK_EX | fcntl.LOCK_NB)
    attempt("flock_shown", fcntl.flock, os.open("/p", os.O_RDONLY),
            fcntl.LOCK_EX | fcntl.LOCK_NB)
    attempt("posix", fcntl.lockf, f, fcntl.LOCK_EX | fcntl.LOCK_NB)
    attempt("lease", fcntl.fcntl, f, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    os.listdir("/usr/share")
PY
talk cell -- $PY /p/inode.py first
hear ready
others_cell -- $PY /p/inode.py second >"$work/in" 2>&1
hush inode
is "$(said in flock) $(said inode inotify)" "EAGAIN event" \
    "residual: flock and inotify on files of /usr"
is "$(said in posix) $(said in lease)" "EBADF EACCES" \
    "but no lock for writing, and no lease"
done_testing
