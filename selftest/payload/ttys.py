"""What a program can do to the terminal of who started it.  try OUTER, or
wait: says which signals come until it is told to end."""
import fcntl
import os
import pty
import signal
import sys
import termios
import time

from attempt import attempt, say, syscall

TIOCSTI, TIOCLINUX, TIOCSETD, TIOCCONS = 0x5412, 0x541c, 0x5423, 0x541d


def ioctl(fd, what, arg=b"\n\0\0\0\0\0\0\0"):
    return syscall(16, fd, what, arg)


def closing(path, flags=os.O_RDWR):
    os.close(os.open(path, flags | os.O_NOCTTY))


if sys.argv[1] == "wait":
    got = set()
    for s in "INT", "QUIT", "TSTP", "HUP", "WINCH", "TTIN", "TTOU", "CONT":
        signal.signal(getattr(signal, "SIG" + s),
                      lambda n, _, s=s: got.add(s))
    say("ready")
    line = os.read(0, 100)
    time.sleep(0.1)
    say("read", line.strip().decode())
    say("signals", ",".join(sorted(got)) or "none")
    sys.exit()

outer = sys.argv[2]
say("streams", "".join(str(int(os.isatty(fd))) for fd in range(3)))
attempt("dev_tty", closing, "/dev/tty")
with open("/proc/self/stat") as f:
    number = f.read().rsplit(")", 1)[1].split()[4]
say("stat", "none" if number == "0" else "one")
say("session", "own" if os.getsid(0) == os.getpid() else "theirs")
attempt("foreground", os.tcgetpgrp, 0)
attempt("outer", closing, outer)
for name in "console", "tty0", "tty1", "ttyS0", "vcs", "vcsa1":
    attempt("dev_" + name, closing, "/dev/" + name, os.O_RDONLY)
say("pts", len([x for x in os.listdir("/dev/pts") if x.isdigit()]))

# One of its own: a terminal in there is as good as any, but for typing.
master, slave = pty.openpty()
inner = os.ttyname(slave)
os.write(master, b"hello\n")
say("own", os.read(slave, 100).decode().strip())
r, w = os.pipe()
if os.fork() == 0:
    os.setsid()
    attempt("own_control", fcntl.ioctl, slave, termios.TIOCSCTTY, 0)
    attempt("own_dev_tty", closing, "/dev/tty")
    for name, fd in (("own", slave), ("master", master), ("stdin", 0),
                     ("stdout", 1), ("stderr", 2), ("dup", os.dup(0))):
        attempt("type_" + name, ioctl, fd, TIOCSTI)
        for bit in 32, 40, 63:
            attempt("type_%s_%d" % (name, bit), ioctl, fd,
                    TIOCSTI | 1 << bit)
        attempt("type_%s_high_fd" % name, ioctl, fd | 1 << 32, TIOCSTI)
    # Typed for it: does it come back as input?
    os.set_blocking(slave, False)
    attempt("typed", os.read, slave, 100)
    attempt("line_discipline", ioctl, slave, TIOCSETD, bytes(4))
    attempt("line_discipline_high", ioctl, slave, TIOCSETD | 1 << 33, bytes(4))
    attempt("console", ioctl, slave, TIOCLINUX, b"\x06")
    attempt("redirect", ioctl, slave, TIOCCONS, None)
    attempt("hangup", lambda: syscall(153))
    os._exit(0)
os.close(w)
os.wait()
