"""Two runs at the same time.  "stay TAG FOLDER" has things and says at its end
what became of them; "come TAG FOLDER NUMBER READY" does to the other whatever
it can.  TAG, a number, is part of names; NUMBER is the other's for the
machine."""
import ctypes
import fcntl
import os
import resource
import signal
import socket
import sys
import time

from attempt import attempt, listener, say, syscall

how, tag, folder, *ready = sys.argv[1:]
KEY, NAME = 0x5e000000 | int(tag), b"bailiff-others-" + tag.encode()
PORT = 20000 + int(tag) % 10000
NS = "net", "mnt", "pid", "ipc", "uts", "cgroup"
SIGNALS = [s for s in range(1, 65) if s not in (
    signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, 32, 33)]
own_lock = os.path.join(folder, "lock")


def taken():
    """What both of them want for themselves."""
    t = socket.socket()
    t.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    yield "port", lambda: (t.bind(("127.0.0.1", PORT)), t.listen(1))
    yield "name", lambda: kept.append(listener(b"\0" + NAME))
    yield "file", lambda: kept.append(os.open(
        own_lock, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666))
    yield "shm", lambda: syscall(29, KEY, 4096, 0o3600)
    yield "queue", lambda: syscall(240, NAME,
                                   os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600,
                                   None)
    kept.append(t)


def lock():
    fd = os.open(own_lock, os.O_RDWR)
    kept.append(fd)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


kept = []
if how == "stay":
    got = []
    for s in SIGNALS:
        signal.signal(s, lambda n, _: got.append(n))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    # the same user may look, where Yama would let a parent alone: the control
    ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_ulong(-1), 0, 0, 0)
    for name, f in taken():
        attempt("have_" + name, f)
    attempt("have_lock", lock)
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    cpus = os.sched_getaffinity(0)
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    say("ready", os.getuid(), os.getpid(),
        *[os.readlink("/proc/self/ns/" + x) for x in NS])
    while True:                     # a signal does not end this read
        if os.read(0, 1) in (b"\n", b""):
            break
    say("signals", ",".join(map(str, sorted(set(got)))) or "none")
    say("settings", "same" if (nice, cpus, limit) == (
        os.getpriority(os.PRIO_PROCESS, 0), os.sched_getaffinity(0),
        resource.getrlimit(resource.RLIMIT_NOFILE)) else "changed")

    def fork():
        for _ in range(20):
            if os.fork() == 0:
                os._exit(0)
        while True:
            try:
                os.wait()
            except ChildProcessError:
                break
    attempt("then_fork", fork)
    attempt("then_file", lambda: open(folder + "/more", "w").write("x" * 8192))
    attempt("then_pty", lambda: kept.append(os.open("/dev/ptmx", os.O_RDWR)))
    ctx = ctypes.c_ulong(0)
    attempt("then_aio", lambda: syscall(206, 1, ctypes.pointer(ctx)))
    attempt("then_inotify", lambda: kept.append(syscall(294, 0)))
    attempt("then_queue", lambda: syscall(
        240, NAME + b"2", os.O_CREAT | os.O_RDWR, 0o600, None))
    attempt("then_semaphores", lambda: syscall(64, KEY, 1, 0o3600))
    attempt("then_pipe", lambda: fcntl.fcntl(os.pipe()[1], 1031, 1 << 20))
    attempt("then_timer", lambda: kept.append(syscall(283, 1, 0)))
    sys.exit()

# --- come ---------------------------------------------------------------------
host_pid, uid, pid = int(ready[0]), int(ready[2]), int(ready[3])
say("uid", "same" if os.getuid() == uid else "other")
for x, theirs in zip(NS, ready[4:]):
    say("ns_" + x, "same" if os.readlink("/proc/self/ns/" + x) == theirs
        else "other")
for name, f in taken():
    attempt("take_" + name, f)
attempt("take_lock", lock)
mine = {os.getpid(), os.getppid()}
pids = [p for p in {*range(2, 1000), host_pid, pid} - mine if p > 1]
say("processes", sum(x.isdigit() and int(x) not in mine
                     for x in os.listdir("/proc")))


def each(name, f, some=None):
    n = 0
    for p in some or pids:
        try:
            f(p)
            n += 1
        except OSError:
            pass
    say(name, n)


HARMLESS = SIGNALS[:]
if os.getuid() == uid:              # the control hits the other one alone
    pids = [host_pid]
each("signal", lambda p: [os.kill(p, s) for s in HARMLESS])
each("signal_0", lambda p: os.kill(p, 0))
each("signal_queue", lambda p: syscall(129, p, signal.SIGUSR1, (
    ctypes.c_int * 32)(signal.SIGUSR1, 0, -1)))
each("signal_thread", lambda p: syscall(234, p, p, signal.SIGUSR2))
each("signal_pidfd", lambda p: signal.pidfd_send_signal(os.pidfd_open(p),
                                                        signal.SIGHUP))
if os.getuid() != uid:
    attempt("signal_all", os.kill, -1, signal.SIGCONT)
each("signal_group", lambda p: os.kill(-p, signal.SIGURG))
each("priority", lambda p: os.setpriority(os.PRIO_PROCESS, p, 3))
each("priority_user", lambda u: os.setpriority(os.PRIO_USER, u, 3),
     [uid] if os.getuid() != uid else [-2])
each("io_priority", lambda u: syscall(251, 3, u, 3 << 13),
     [uid] if os.getuid() != uid else [-2])
each("affinity", lambda p: os.sched_setaffinity(p, {0}))
each("limit", lambda p: resource.prlimit(p, resource.RLIMIT_NOFILE, (9, 9)))
each("memory", lambda p: os.open("/proc/%d/mem" % p, os.O_RDONLY))
each("environ", lambda p: os.open("/proc/%d/environ" % p, os.O_RDONLY))
each("oom", lambda p: os.open("/proc/%d/oom_score_adj" % p, os.O_WRONLY))
try:
    with open("/proc/locks") as f:
        n = sum(1 for x in f if str(os.getpid()) not in x.split())
except OSError:
    n = 0
say("locks", n)
with open("/proc/self/cgroup") as f:
    say("cgroup", "root" if all(x.rstrip().endswith(":/") for x in f)
        else "path")


def use_up(name, f):
    n = 0
    try:
        while n < 100000:
            kept.append(f())
            n += 1
    except OSError:
        pass
    say("used_" + name, n)


if os.getuid() != uid:              # never outside of a cell
    ctx = [ctypes.c_ulong(0)]

    def aio():
        for n in 32768, 8192, 1024, 64, 1:
            try:
                ctx.append(ctypes.c_ulong(0))
                return syscall(206, n, ctypes.pointer(ctx[-1]))
            except OSError as e:
                if n == 1:
                    raise

    def process():
        p = os.fork()
        if p == 0:
            time.sleep(60)
            os._exit(0)
        return p
    use_up("aio", aio)

    def terminal():
        return os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
    use_up("ptys", terminal)
    use_up("inotify", lambda: syscall(294, 0))
    use_up("queues", lambda: syscall(240, b"q%d" % len(kept), 0o102, 0o600,
                                     None))
    use_up("semaphores", lambda: syscall(64, 0, 250, 0o1600))
    use_up("timers", lambda: syscall(222, 1, None, (ctypes.c_int * 1)(0)))
    use_up("processes", process)

    def disk():
        n = os.write(big, bytes(1 << 20))
        if n == 0:
            raise OSError(28, "full")
    big = os.open(folder + "/big", os.O_CREAT | os.O_WRONLY)
    use_up("disk", disk)
    use_up("ptys_since", terminal)
say("done")
sys.stdin.read()
