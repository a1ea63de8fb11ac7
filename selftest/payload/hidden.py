"""Looks for what is hidden, by every road to it.  Arguments: the road, and
secret files; a secret is found when its text is."""
import ctypes
import os
import sys

from attempt import attempt, libc, say, syscall

how, *secrets = sys.argv[1:]
TEXT = b"do not show this"


def read(path, dir_fd=None):
    fd = os.open(path, os.O_RDONLY, dir_fd=dir_fd)
    try:
        if os.read(fd, 100).strip() != TEXT:
            raise OSError(2, "something else")
    finally:
        os.close(fd)


def each(name, prefix):
    """One result for all secrets: found, or the errors."""
    got = set()
    for s in secrets:
        try:
            read(prefix + s)
            got.add("found")
        except OSError as e:
            got.add(e.strerror.split()[0])
    say(name, "found" if "found" in got else "absent")


def walk_up(fd, name):
    """From a folder up to a root that has no more parent, then down."""
    last = None
    while True:
        st = os.fstat(fd)
        if (st.st_dev, st.st_ino) == last:
            break
        last = (st.st_dev, st.st_ino)
        fd = os.open("..", os.O_RDONLY | os.O_DIRECTORY, dir_fd=fd)
    found = 0
    for s in secrets:
        try:
            read(s.lstrip("/"), dir_fd=fd)
            found += 1
        except OSError:
            pass
    say(name, "found" if found else "absent")


if how == "paths":
    each("path", "")
    each("proc_1_root", "/proc/1/root")
    each("proc_self_root", "/proc/self/root")
    each("proc_self_cwd", "/proc/self/cwd/../../../../../../../..")
    each("proc_task_root", "/proc/self/task/%d/root" % os.getpid())
    each("dot_dot", "/../../../..")
    each("proc_thread", "/proc/thread-self/root/proc/self/root")
    found = 0
    for pid in os.listdir("/proc"):
        for name in "root", "cwd", "fd", "exe", "map_files", "ns":
            if pid.isdigit() and int(pid) != os.getpid():
                try:
                    found += bool(os.listdir("/proc/%s/%s" % (pid, name)))
                except OSError:
                    pass
    for pid in range(1, 1000):      # what a listing does not tell
        try:
            if pid != os.getpid():
                found += bool(os.readlink("/proc/%d/root" % pid))
        except OSError:
            pass
    say("others_proc", "found" if found else "absent")
    # A folder held open while it is removed, and "." of it.
    os.mkdir("gone")
    os.chdir("gone")
    os.rmdir("../gone")
    each("removed_cwd", "../../../../../../../..")
    os.chdir("/")
    walk_up(os.open(".", os.O_RDONLY), "walk_up")
    # Links of one's own making.
    os.chdir(os.environ.get("TMPDIR", "/tmp"))
    for i, s in enumerate(secrets):
        if os.path.lexists("link%d" % i):
            os.unlink("link%d" % i)
        os.symlink(s, "link%d" % i)
        attempt("own_link_%d" % i, read, "link%d" % i)
        os.unlink("link%d" % i)
elif how == "inherited":
    # The caller's folder as its working folder and as descriptors 7 and 8.
    each("cwd", os.getcwd())
    attempt("cwd_file", read, "secret")
    attempt("fd_7", os.fchdir, 7)
    attempt("fd_7_up", lambda: os.open("..", os.O_RDONLY, dir_fd=7))
    attempt("fd_7_proc", lambda: os.listdir("/proc/self/fd/7/"))
    attempt("fd_8", lambda: os.pread(8, 1, 0))
    attempt("fd_8_proc", read, "/proc/self/fd/8")
    attempt("dev_fd_8", read, "/dev/fd/8")
elif how == "mounts":
    def sys(nr, *a):
        return lambda: syscall(nr, *a)

    def apart(name, f):         # it may change the root of who does it
        if os.fork() == 0:
            attempt(name, f)
            os._exit(0)
        os.wait()

    # The same disk by a file's number.
    buf = ctypes.create_string_buffer(
        (128).to_bytes(4, "little") + bytes(132))
    mnt = ctypes.create_string_buffer(4)
    attempt("handle", sys(303, -100, b"/usr/bin", buf, mnt, 0))

    def by_handle():
        os.close(syscall(304, os.open("/usr", os.O_RDONLY), buf, 0))

    apart("by_handle", by_handle)
    A = b"/"
    apart("proc", sys(165, b"proc", b"/tmp", b"proc", 0, None))
    apart("tmpfs", sys(165, b"none", b"/tmp", b"tmpfs", 0, None))
    apart("mknod_block", lambda: os.mknod("/tmp/disk", 0o60666,
                                          os.makedev(254, 0)))
    apart("mknod_char", lambda: os.mknod("/tmp/mem", 0o20666,
                                         os.makedev(1, 1)))
    apart("bind", sys(165, b"/usr", b"/tmp", None, 4096, None))
    apart("remount", sys(165, None, b"/tmp", None, 32 | 4096, None))
    apart("move", sys(165, b"/tmp", b"/usr", None, 8192, None))
    apart("open_tree", sys(428, -100, A, 1))
    apart("open_tree_path", sys(428, -100, A, 0))
    apart("move_mount", sys(429, -100, A, -100, b"/tmp", 0))
    apart("fsopen", sys(430, b"tmpfs", 0))
    apart("fspick", sys(433, -100, A, 0))
    apart("mount_setattr", sys(442, -100, A, 0, bytes(32), 32))
    apart("setns", lambda: syscall(
        308, os.open("/proc/self/ns/mnt", os.O_RDONLY), 0))
    apart("chroot", sys(161, b"/tmp"))
    apart("pivot_root", sys(155, A, A))
    for place in ("/tmp", "/usr", "/p", "/work", "/etc/ssl/certs", "/dev",
                  "/proc/keys", "/proc/sys", "/proc", "/"):
        for flags in 0, 2, 8:       # plain, MNT_DETACH, UMOUNT_NOFOLLOW
            apart("umount_%s_%d" % (place, flags),
                  sys(166, place.encode(), flags))
elif how == "shown":
    for s in secrets:
        attempt("shown_" + s.rsplit("/", 1)[1], read, s)
