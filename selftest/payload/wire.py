"""What the helper's socket is sent by somebody who means no good: each input
ends its own connection, within two seconds, and nobody else's."""
import array
import os
import socket
import struct
import sys
import time

path = sys.argv[1]
SIZE, MAGIC, VERSION, HELLO, CELL, BYE = 2048, 0x6c696162, 2, 1, 2, 4


def req(op, magic=MAGIC, version=VERSION, seq=1, zero=0, body=b""):
    return (struct.pack("<IHHII", magic, version, op, seq, zero) +
            body).ljust(SIZE, b"\0")


def dial():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(path)
    s.settimeout(10)
    return s


def send(s, data, fds=()):
    anc = [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
            array.array("i", fds))] if fds else []
    s.sendmsg([data], anc)


def ended(s):
    """Seconds until nothing more can come; None: it does not end."""
    start = time.monotonic()
    s.settimeout(4)
    try:
        while s.recv(4096):
            pass
    except ConnectionError:
        pass
    except TimeoutError:
        return None
    return time.monotonic() - start


hello = req(HELLO)
null = os.open("/dev/null", os.O_RDWR)
inputs = [("%d bytes" % n, [(hello[:n], ())]) for n in
          (0, 1, 3, 4, 15, 16, 255, 2047)]
inputs += [("a byte too many", [(hello + b"x", ())]),
           ("4 KiB", [(hello * 2, ())]),
           ("64 KiB", [(hello * 32, ())])]
inputs += [("op %d" % n, [(req(n), ())]) for n in
           (0, 2, 3, 4, 5, 8, 9, 14, 15, 32, 0x101, 0xffff)]
inputs += [("version %d" % n, [(req(HELLO, version=n), ())]) for n in
           (0, VERSION - 1, VERSION + 1, 0xffff)]
inputs += [("another magic", [(req(HELLO, magic=MAGIC ^ 1), ())]),
           ("a byte that is not its own", [(req(HELLO, body=b"\1"), ())]),
           ("the last byte", [(hello[:-1] + b"\1", ())]),
           ("zero is not", [(req(HELLO, zero=1), ())]),
           ("HELLO twice", [(hello, ()), (hello, ())]),
           ("CELL of nobody", [(hello, ()), (req(CELL, body=b"\x63"), ())])]
inputs += [("%d descriptors" % n, [(hello, [null] * n)]) for n in
           (1, 2, 12, 13, 253)]
bad = 0
for name, messages in inputs:
    s = dial()
    try:
        for data, fds in messages:
            send(s, data, fds)
    except OSError:
        pass                    # it has ended already
    took = ended(s)
    if took is None or took > 2:
        bad += 1
        print("#", name, "does not end" if took is None else f"{took:.1f} s")
    s.close()
# silence is no crime: others are served meanwhile, and its end is the end
silent = [dial() for _ in range(20)]
s = dial()
send(s, hello)
bad += len(s.recv(4096)) != 256
send(s, req(BYE))
bad += ended(s) is None
for s in silent:
    s.close()
print(len(inputs), bad)
