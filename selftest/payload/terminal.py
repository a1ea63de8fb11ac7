"""terminal.py OUT [INPUT] -- COMMAND...: runs it with a terminal of its own as
its controlling one.  All that it shows goes to OUT; INPUT is typed, and the
window changes its size, when it has shown "ready"."""
import fcntl
import os
import pty
import struct
import sys
import termios

at = sys.argv.index("--")
out, *typed = sys.argv[1:at]
pid, fd = pty.fork()
if pid == 0:
    a = termios.tcgetattr(0)
    a[1] &= ~termios.OPOST          # what is shown is what was written
    a[3] &= ~termios.ECHO
    termios.tcsetattr(0, termios.TCSANOW, a)
    os.environ["OUTER"] = os.ttyname(0)
    os.execvp(sys.argv[at + 1], sys.argv[at + 1:])
seen = b""
with open(out, "wb") as f:
    while True:
        try:
            b = os.read(fd, 4096)
        except OSError:             # the last one has closed it
            break
        if not b:
            break
        f.write(b)
        seen += b
        if typed and b"ready" in seen:
            fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("=4H", 40, 90,
                                                            0, 0))
            os.write(fd, typed.pop().encode().decode("unicode_escape")
                     .encode("latin1"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 0xff)
