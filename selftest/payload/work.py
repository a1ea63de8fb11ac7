"""An answer that is caught at work: it starts children, computes, writes a
file, prints much, and then what it was asked for."""
import os
import sys

children = int(sys.argv[1]) if len(sys.argv) > 1 else 0
for _ in range(children):
    if os.fork() == 0:
        null = os.open("/dev/null", os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
        os.execv("/bin/sleep", ["sleep", "600"])
n = 0
for i in range(100000):
    n += i & 1
with open("made", "wb") as f:
    f.write(b"m" * (4 << 20))
for i in range(300):
    os.write(1, b"x" * 1023 + b"\n")
os.write(1, b"result %d\n" % n)
