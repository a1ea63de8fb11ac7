"""Tries to get rights.  every: by each program below a folder; make: by one
of its own making; regain: by asking."""
import ctypes
import os
import re
import stat
import subprocess
import sys
import threading
import time

from attempt import attempt, libc, say, syscall

how = sys.argv[1]
GIVES = stat.S_ISUID | stat.S_ISGID
CAPS = bytes.fromhex("0100000200200000000000000000000000000000")  # net_raw


def giving(root):
    for top, dirs, files in os.walk(root):
        if top == "/":
            dirs[:] = [d for d in dirs if d not in ("proc", "sys")]
        for f in files:
            p = os.path.join(top, f)
            try:
                st = os.lstat(p)
                if stat.S_ISREG(st.st_mode) and (
                        st.st_mode & GIVES and st.st_mode & 0o111 or
                        "security.capability" in os.listxattr(p)):
                    if os.access(p, os.X_OK):
                        yield p
            except OSError:
                pass


def ids(pid):
    with open("/proc/%d/status" % pid) as f:
        return [x for x in f if x.startswith(("Uid", "Gid", "Groups", "Cap"))]


if how == "every":
    mine, gained, seen, silent = ids(os.getpid()), [], 0, []
    # bounding and ambient sets of a child are its parent's
    for p in giving(sys.argv[2]):
        seen += 1
        q = subprocess.Popen([p, "--help"], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             env={"LD_SHOW_AUXV": "1"},
                             start_new_session=True)
        other = hidden = False
        end = time.monotonic() + 0.15
        while time.monotonic() < end and q.poll() is None:
            try:
                # where others are hidden, one that vanishes is another user,
                # or has made itself unreadable
                with open("/proc/%d/comm" % q.pid) as f:
                    begun = f.read().strip() == os.path.basename(p)[:15]
                if begun:
                    other |= ids(q.pid) != mine
            except FileNotFoundError:
                hidden |= q.poll() is None
            except ProcessLookupError:
                pass
        try:
            q.kill()
        except OSError:
            other = True        # it is somebody else's now
        if other and q.poll() is None:
            q.stdin.close()
            out = b""
        else:
            out = q.communicate()[0]
        q.wait()
        secure = re.search(rb"AT_SECURE:\s*(\d)", out)
        euid = re.search(rb"AT_EUID:\s*(\d+)", out)
        if other or (secure[1] != b"0" if secure else hidden) or \
                euid and int(euid[1]) != os.getuid():
            gained.append(p)
        elif not secure:
            silent.append(p)
    say("programs", seen)
    say("gained", len(gained))
    say("silent", len(silent), *silent)     # static ones do not tell
    for p in gained:
        say("#", p)
elif how == "make":
    os.chdir(sys.argv[2])
    os.umask(0)
    n = 0

    def made(name, f, path=None):
        """f makes a file, or changes its mode: does it have a bit then?"""
        global n
        n += 1
        target = path or "f%d" % n
        if path is None:
            with open(target, "w"):
                pass

        def do():
            r = f(target.encode())
            if not os.stat(r if isinstance(r, int) and r > 2 else target) \
                    .st_mode & GIVES:
                raise OSError(71, "no bit")
        attempt(name, do)
    B = stat.S_ISUID | 0o755
    G = stat.S_ISGID | 0o755
    AT, HIGH = -100, 1 << 32
    C, T = os.O_CREAT | os.O_WRONLY, os.O_TMPFILE | os.O_WRONLY
    for bit, m in ("u", B), ("g", G):
        made("chmod_" + bit, lambda p: syscall(90, p, m))
        made("fchmod_" + bit, lambda p: syscall(91, os.open(p, 0), m))
        made("fchmodat_" + bit, lambda p: syscall(268, AT, p, m))
        made("fchmodat2_" + bit, lambda p: syscall(452, AT, p, m, 0))
        made("fchmodat2_fd_" + bit, lambda p: syscall(
            452, os.open(p, os.O_PATH), b"", m, 0x1000))
        made("chmod_high_" + bit, lambda p: syscall(90, p, m | HIGH))
        made("fchmod_high_" + bit, lambda p: syscall(
            91, os.open(p, 0) | HIGH, m | HIGH << 3))
        made("fchmodat_high_" + bit, lambda p: syscall(
            268, AT & 0xffffffff | HIGH, p, m | 1 << 16))
        made("open_" + bit, lambda p: syscall(2, p, C, m), "of%d" % (
            n + 1))
        made("openat_" + bit, lambda p: syscall(257, AT, p, C, m),
             "of%d" % (n + 1))
        made("openat_high_" + bit, lambda p: syscall(
            257, AT, p, C | HIGH, m | HIGH), "of%d" % (n + 1))
        made("openat2_" + bit, lambda p: syscall(
            437, AT, p, (ctypes.c_uint64 * 3)(C, m, 0), 24),
            "of%d" % (n + 1))
        made("tmpfile_" + bit, lambda p: syscall(2, b".", T, m), ".")
        made("tmpfile_at_" + bit, lambda p: syscall(257, AT, b".", T, m), ".")
        made("creat_" + bit, lambda p: syscall(85, p, m), "of%d" % (
            n + 1))
        made("mknod_" + bit, lambda p: syscall(
            133, p, stat.S_IFREG | m, 0), "of%d" % (n + 1))
        made("mknodat_" + bit, lambda p: syscall(
            259, AT, p, stat.S_IFREG | m, 0), "of%d" % (n + 1))
        made("memfd_" + bit, lambda p: (lambda fd: syscall(91, fd, m) or fd)(
            os.memfd_create("x")), ".")
        made("shm_" + bit, lambda p: os.open("/dev/shm/s" + bit, C | os.O_EXCL,
                                             m), "/dev/shm/s" + bit)
    for x in "/dev/shm/su", "/dev/shm/sg":
        if os.path.exists(x):
            os.unlink(x)
    made("capability", lambda p: os.setxattr(p, "security.capability", CAPS))
    made("acl", lambda p: os.setxattr(p, "system.posix_acl_access",
                                      b"\2\0\0\0" + b"".join(
        (t).to_bytes(2, "little") + (m).to_bytes(2, "little") + b"\xff" * 4
        for t, m in ((1, 0o4007), (4, 5), (0x20, 5)))))
    # Programs that keep a mode, from a file that has the bit.
    source = sys.argv[3]
    cmd = {"cp": ["cp", "-p", source, "c1"],
           "install": ["install", "-m", "4755", source, "c2"],
           "cp_attributes": ["cp", "--preserve=all", source, "c3"],
           "link": ["ln", source, "c4"],
           "tar": ["sh", "-c", "tar -cf t -C / ${0#/}; tar -xpf t; mv ${0#/} "
                   "c5", source],
           "cpio": ["sh", "-c", "perl -e 'use File::Copy; copy($ARGV[0], "
                    "$ARGV[1]); chmod 04755, $ARGV[1]' $0 c6", source],
           "chmod": ["sh", "-c", "cp $0 c7; chmod u+s c7; chmod g+s c7;"
                     " chmod 6755 c7", source]}
    for i, (name, argv) in enumerate(cmd.items()):
        subprocess.run(argv, stderr=subprocess.DEVNULL)
        f = "c%d" % (i + 1)
        say("by_" + name, "bit" if os.path.exists(f) and
            os.stat(f).st_mode & GIVES else "none")
elif how == "regain":
    uid, gid = os.getuid(), os.getgid()

    def apart(name, f, *args):
        if os.fork() == 0:
            attempt(name, f, *args)
            os._exit(0)
        os.wait()

    def fsuid(nr):
        syscall(nr, 12)
        if syscall(nr, -1) != 12:
            raise OSError(1, "not changed")
    for n, w in ("0", 0), ("1", 1), ("next", uid + 2):
        apart("setuid_" + n, os.setuid, w)
        apart("setreuid_" + n, os.setreuid, -1, w)
        apart("setresuid_" + n, os.setresuid, -1, -1, w)
        apart("setgid_" + n, os.setgid, w)
        apart("setregid_" + n, os.setregid, w, -1)
        apart("setresgid_" + n, os.setresgid, w, w, w)
        apart("setgroups_" + n, os.setgroups, [w])
    apart("setgroups", os.setgroups, [])
    apart("setfsuid", fsuid, 122)
    apart("setfsgid", fsuid, 123)
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)
    for name, e, p, i in (("effective", 1, 1, 0), ("permitted", 0, 1, 0),
                          ("inheritable", 0, 0, 1)):
        bits = 1 << 12                          # net_admin
        data = (ctypes.c_uint32 * 6)(e * bits, p * bits, i * bits, 0, 0, 0)
        apart("capset_" + name, lambda: syscall(126, head, data))

    def prctl(*a):
        return lambda: syscall(157, *a)
    apart("ambient", lambda: (syscall(126, head, (ctypes.c_uint32 * 6)(
        1 << 12, 1 << 12, 1 << 12, 0, 0, 0)), syscall(157, 47, 2, 12, 0, 0)))
    apart("ambient_alone", prctl(47, 2, 12, 0, 0))
    apart("securebits", prctl(28, 0x2f))
    apart("privileges_again", prctl(38, 0, 0, 0, 0))
    apart("bounding", prctl(24, 12))
    apart("dump", prctl(36, 1))                 # child subreaper: harmless
    out = []

    def thread():
        with open("/proc/thread-self/status") as f:
            out.append([x for x in f if x.startswith(
                ("Uid", "Gid", "Groups", "Cap", "NoNew", "Seccomp:"))])
    t = [threading.Thread(target=thread) for _ in range(4)]
    [x.start() for x in t]
    [x.join() for x in t]
    thread()
    say("threads", "same" if all(x == out[0] for x in out) else "other")
    say("status", " ".join(x.split(None, 1)[1].strip().replace("\t", ",")
                           for x in out[0] if x[0] in "CNS"))
