"""Tries things and says how each went: "NAME ok", or "NAME EPERM"."""
import ctypes
import errno
import os
import platform
import socket

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def say(name, *what):
    os.write(1, (" ".join([name, *map(str, what)]) + "\n").encode())


def attempt(name, f, *args):
    try:
        r = f(*args)
    except OSError as e:
        say(name, errno.errorcode.get(e.errno, "E%s" % e.errno))
        return None
    say(name, "ok")
    return r


def syscall(nr, *args):
    """A system call by its number; integers keep all their 64 bits."""
    if platform.machine() != "x86_64":      # its numbers are those of x86-64
        raise OSError(errno.ENOSYS, "another machine")
    a = [x if isinstance(x, (bytes, ctypes._Pointer, ctypes.Array))
         or x is None else ctypes.c_long(x) for x in args]
    r = libc.syscall(ctypes.c_long(nr), *a)
    if r < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return r


def listener(name, kind=socket.SOCK_STREAM):
    s = socket.socket(socket.AF_UNIX, kind)
    s.bind(name)
    if kind != socket.SOCK_DGRAM:
        s.listen(4096)
    return s
