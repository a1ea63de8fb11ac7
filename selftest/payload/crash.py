"""Crashes in every way, after it has asked for a core in every way."""
import ctypes
import glob
import os
import resource
import signal
import sys
import time

from attempt import attempt, libc, say, syscall

CORE, INF = resource.RLIMIT_CORE, (1 << 64) - 1
SECRET = b"rosebud" * 3


def pair(soft, hard):
    return (ctypes.c_uint64 * 2)(soft, hard)


def apart(name, f):
    """f, and what the limit is then, in a process of its own."""
    if os.fork() == 0:
        try:
            f()
        except (OSError, ValueError):
            pass
        say(name, *resource.getrlimit(CORE))
        os._exit(0)
    os.wait()


say("limit", *resource.getrlimit(CORE))
if sys.argv[1] == "limits":
    # More than a byte is a file; less, and a pipe no longer heeds it.
    HIGH = 1 << 32
    for what, soft, hard in (("unlimited", INF, INF), ("soft", INF, 1),
                             ("two", 2, 2), ("page", 4096, 1 << 20),
                             ("zero", 0, 0), ("soft_zero", 0, 1)):
        p = pair(soft, hard)
        apart("setrlimit_" + what, lambda: syscall(160, CORE, p))
        apart("setrlimit_high_" + what, lambda: syscall(160, CORE | HIGH, p))
        apart("prlimit_" + what, lambda: syscall(302, 0, CORE, p, None))
        apart("prlimit_self_" + what,
              lambda: syscall(302, os.getpid(), CORE, p, None))
        apart("prlimit_high_" + what,
              lambda: syscall(302, HIGH, CORE | HIGH << 1, p, None))

        def other():
            """Of a process, by another one."""
            r, w = os.pipe()
            pid = os.fork()
            if pid == 0:
                os.read(r, 1)
                say("prlimit_other_" + what, *resource.getrlimit(CORE))
                os._exit(0)
            try:
                syscall(302, pid, CORE, p, None)
            except OSError:
                pass
            os.write(w, b"x")
            os.wait()
        other()
    # Asking is free, and so are the others.
    attempt("ask", syscall, 302, 0, CORE, None, pair(0, 0))
    attempt("files", resource.setrlimit, resource.RLIMIT_NOFILE, (64, 64))
    sys.exit()

os.chdir(sys.argv[2])
keep = ctypes.create_string_buffer(SECRET)
for s in ("ABRT", "SEGV", "QUIT", "BUS", "FPE", "ILL", "TRAP", "SYS", "XCPU",
          "XFSZ"):
    for how in "child", "thread", "group":
        pid = os.fork()
        if pid == 0:
            for limits in (-1, -1), (-1, 1):
                try:
                    resource.setrlimit(CORE, limits)
                except (OSError, ValueError):
                    pass
            libc.prctl(4, 1, 0, 0, 0)           # dumpable
            with open("/proc/self/coredump_filter", "w") as f:
                f.write("0x1ff")
            n = getattr(signal, "SIG" + s)
            signal.signal(n, signal.SIG_DFL)
            if how == "thread":
                os.setsid()
            elif how == "group":
                os.setpgid(0, 0)
                os.kill(0, n)
            if s == "ABRT":
                os.abort()
            os.kill(os.getpid(), n)
            os._exit(0)
        status = os.waitpid(pid, 0)[1]
        say("%s_%s" % (s, how), "signal", os.WTERMSIG(status),
            "core" if os.WCOREDUMP(status) else "none")
found = []
for top in ".", "/tmp", "/var/tmp", "/dev/shm", "/", os.environ.get("HOME", "/"):
    for name in glob.glob(top + "/*core*"):
        try:
            with open(name, "rb") as f:
                if SECRET in f.read():
                    found.append(name)
        except OSError:
            pass
say("files", len(found))
