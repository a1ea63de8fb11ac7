"""Looks for the daemons of a machine: by path, name, number and descriptor."""
import os
import socket
import stat
import sys

from attempt import attempt, say, syscall


def connect(path):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        try:
            socket.socket(socket.AF_UNIX, kind).connect(path)
            return
        except OSError as e:
            if e.errno != 91:           # EPROTOTYPE: it is of another kind
                raise


how, *args = sys.argv[1:]
if how == "paths":
    for i, path in enumerate(args):
        attempt("path_%d" % i, connect, path)
        # The same by another name of the root, and below it.
        attempt("root_%d" % i, connect, "/proc/self/root" + path)
        attempt("up_%d" % i, connect, "../../../../../../../.." + path)
elif how == "environ":
    say("environ", ",".join(sorted(os.environ)))
elif how == "tree":
    odd = []
    for top, dirs, files in os.walk("/"):
        if top == "/":
            dirs.remove("proc")
        with os.scandir(top) as entries:
            odd += [e.path for e in entries if not (
                e.is_file(follow_symlinks=False) or e.is_symlink()
                or e.is_dir(follow_symlinks=False))]
    kinds = {stat.S_IFMT(os.lstat(x).st_mode): 0 for x in odd}
    for x in odd:
        kinds[stat.S_IFMT(os.lstat(x).st_mode)] += 1
    say("sockets", kinds.get(stat.S_IFSOCK, 0))
    say("fifos", kinds.get(stat.S_IFIFO, 0))
    say("blocks", kinds.get(stat.S_IFBLK, 0))
    say("chars", ",".join(sorted(x for x in odd
                                 if stat.S_ISCHR(os.lstat(x).st_mode))))
elif how == "descriptors":
    fds = []
    for fd in range(0, 4096):
        try:
            fds.append((fd, stat.S_IFMT(os.fstat(fd).st_mode)))
        except OSError:
            pass
    say("open", ",".join(str(fd) for fd, _ in fds))
    say("open_sockets", sum(m == stat.S_IFSOCK for _, m in fds))
    for fd in range(3):
        attempt("peer_%d" % fd,
                lambda: socket.socket(fileno=os.dup(fd)).getpeername())
    attempt("send_9", os.write, 9, b"x")
    attempt("accept_8", lambda: socket.socket(fileno=8).accept())
    # Of other processes: whatever has a number.
    n = m = 0
    for pid in [int(x) for x in args] + list(range(1, 400)):
        if pid == os.getpid():
            continue
        try:
            n += len(os.listdir("/proc/%d/fd" % pid))
        except OSError:
            pass
        try:
            p = os.pidfd_open(pid)
            m += 1
            syscall(438, p, 0, 0)       # pidfd_getfd
            n += 1
        except OSError:
            pass
    say("others_fds", n)
    say("others", m)
