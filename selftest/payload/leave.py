"""Leaves something in every store that outlives a process, or looks for what
another run left there.  leave|look|clear FOLDER..."""
import ctypes
import fcntl
import os
import signal
import socket
import sys
import time

from attempt import attempt, libc, listener, say, syscall

how, *folders = sys.argv[1:]
KEY, NAME = 0x5e1f7e57, b"bailiff-selftest"
RINGS = {"thread": -1, "process": -2, "session": -3, "user": -4,
         "user_session": -5}
SHARED = "/usr/bin/nohup"        # C06 locks another one


def key_add(ring):
    return syscall(248, b"user", NAME, b"left", 4, ring)


def key_find(ring):
    return syscall(250, 10, ring, b"user", NAME, 0)


def persistent():
    return syscall(250, 22, -1, -3)


def queue(flags):
    return syscall(240, NAME, flags, 0o600, None)


def ipc(nr, *args):
    return lambda: syscall(nr, KEY, *args)


def stay():
    """A process that goes on, with what goes by its life."""
    r, w = os.pipe()
    if os.fork() != 0:
        os.close(w)
        os.read(r, 1)
        return
    os.setsid()
    if os.fork() != 0:
        os._exit(0)
    for s in range(1, 65):
        if s not in (signal.SIGKILL, signal.SIGSTOP, 32, 33):
            signal.signal(s, signal.SIG_IGN)
    kept = [listener(b"\0" + NAME), socket.create_server(("127.0.0.1", 5717)),
            os.open(SHARED, os.O_RDONLY), os.open("/dev/ptmx", os.O_RDWR)]
    fcntl.flock(kept[2], fcntl.LOCK_EX)
    os.write(w, b"x")
    os.close(w)
    for fd in range(3):
        os.close(fd)
    time.sleep(2)
    for f in folders:
        open(f + "/late", "w").close()
    time.sleep(300)


def found(name, f, *args):
    try:
        f(*args)
        say(name, "found")
    except OSError:
        say(name, "absent")


say("uid", os.getuid())
if how == "leave":
    for i, f in enumerate(folders):
        def files():
            os.makedirs(f + "/.a/b")
            for x in "left", ".hidden", "a\nb", "-rf", ".a/b/c":
                with open(f + "/" + x, "w") as o:
                    o.write("left")
            listener(f + "/socket")
            os.mkfifo(f + "/fifo")
            os.symlink("/", f + "/link")
        attempt("folder_%d" % i, files)
    attempt("shm", ipc(29, 4096, 0o1600))
    attempt("sem", ipc(64, 1, 0o1600))
    attempt("msg", ipc(68, 0o1600))
    attempt("msg_send", lambda: syscall(
        69, syscall(68, KEY, 0), bytes([1] + 7 * [0]) + b"left", 4, 0))
    attempt("mq", queue, os.O_CREAT | os.O_RDWR)
    for name, ring in RINGS.items():
        attempt("key_" + name, key_add, ring)
    attempt("key_persistent", lambda: key_add(persistent()))
    attempt("hostname", socket.sethostname, "left")
    attempt("stay", stay)
    for f in folders:           # and nobody else shall use it
        if f in ("/run", "/work", os.environ.get("HOME")):
            attempt("closed_" + f, os.chmod, f, 0)
elif how == "look":
    for i, f in enumerate(folders):
        say("folder_%d" % i, "found" if os.path.exists(f) and os.listdir(f)
            else "absent")
        attempt("use_%d" % i, lambda: os.close(os.open(
            f + "/mine", os.O_CREAT | os.O_WRONLY)))
    found("shm", ipc(29, 0, 0))
    found("sem", ipc(64, 0, 0))
    found("msg", ipc(68, 0))
    for name in "shm", "sem", "msg":
        with open("/proc/sysvipc/" + name) as f:
            say("list_" + name, "found" if len(list(f)) > 1 else "absent")
    found("mq", queue, os.O_RDWR)
    for name, ring in RINGS.items():
        found("key_" + name, key_find, ring)
    found("key_persistent", lambda: key_find(persistent()))
    found("key_request", lambda: syscall(249, b"user", NAME, None, 0))

    def met():
        s = socket.socket(socket.AF_UNIX)
        s.connect(b"\0" + NAME)
    found("abstract", met)
    found("port", socket.create_connection, ("127.0.0.1", 5717), 5)
    found("pty", os.stat, "/dev/pts/0")

    def lock():
        fd = os.open(SHARED, os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    attempt("lock", lock)
    say("processes", "found" if len([x for x in os.listdir("/proc")
                                     if x.isdigit()]) > 1 else "absent")
    say("hostname", "found" if socket.gethostname() == "left" else "absent")
elif how == "clear":            # what a control leaves outlives its namespaces
    for ring in RINGS["user"], RINGS["session"], RINGS["user_session"]:
        try:
            syscall(250, 7, ring)
        except OSError:
            pass
