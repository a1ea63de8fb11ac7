#!/usr/bin/python3
"""What a run may leave behind, looked at before and after.

    before = libleft.Look(whole=True)
    ...
    for what in libleft.Look(whole=True).since(before): ...

Looked at: processes, namespaces in use (by a process or by a descriptor of
one), mounts, control groups, locks on the slots, files, System V and POSIX
message queues, shared memory and semaphores.

whole: everything that is new counts; for a test with process, mount and IPC
namespaces of its own (libworld.py).  Otherwise other tests run beside this
one, and of processes, files and IPC only what belongs to a uid of `uids`
counts, or has bailiff's name, and of these processes only the test's own and
orphans; of locks only those of these slots.

As a program, for shell tests:  libleft.py save FILE; libleft.py diff FILE
(one line for each thing that is new, status 1 if there was one).  `uids` is
then all of the slots' uids, or those of LEFT_UIDS=FIRST-LAST.
"""

import os
import pickle
import sys

FIRST, COUNT = 1879113728, 65536        # policy/default.policy
SLOTS, SESSIONS = "/run/bailiff/slots", 1 << 31
KINDS = ("net", "mnt", "pid", "ipc", "uts", "cgroup", "user")
FOLDERS = ("/tmp", "/dev/shm", "/run", "/var/tmp")


def read(path):
    """A file's bytes, or none if it can't be read, or is gone."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        parts = []
        while True:
            part = os.read(fd, 1 << 16)
            if not part:
                return b"".join(parts)
            parts.append(part)
    except OSError:
        return b""
    finally:
        os.close(fd)


def stat(pid):
    """State, parent, start time: of a process, or None."""
    text = read(f"/proc/{pid}/stat")
    if not text:
        return None
    rest = text[text.rindex(b")") + 2:].split()
    return rest[0].decode(), int(rest[1]), int(rest[19])


def link(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def mounts():
    """The mount table's lines without their numbers."""
    text = read("/proc/self/mountinfo").decode("utf-8", "replace")
    return [line.split(" ", 2)[2] for line in text.splitlines()]


def locks():
    """The bytes that are locked in the file of slots: a cell's uid, or, above
    all uids, a session's slot."""
    try:
        ino = os.stat(SLOTS)
    except OSError:
        return set()
    want = (f"{os.major(ino.st_dev):02x}:{os.minor(ino.st_dev):02x}:"
            f"{ino.st_ino}")
    held = set()
    for line in read("/proc/locks").decode().splitlines():
        words = line.split()
        if want in words:
            first = int(words[-2])
            last = first if words[-1] == "EOF" else int(words[-1])
            held.update(range(first, last + 1))
    return held


class Look:
    def __init__(self, whole=False, uids=None, folders=FOLDERS, skip=()):
        self.whole = whole
        self.uids = uids or (FIRST, FIRST + COUNT - 1)
        self.skip = set(skip)           # paths of the test's own
        self.processes, self.ns = {}, {}
        self._processes()
        self.mounts = mounts()
        self.cgroups = self._cgroups()
        self.locks = {n for n in locks() if whole or self.uids[0] <=
                      (n if n < SESSIONS else n - SESSIONS + FIRST) <=
                      self.uids[1]}
        self.files = {}
        for folder in folders + (os.getcwd(),):
            self._files(folder)
        self.ipc = self._ipc()

    def _named(self, uids, name, word="bailiff"):
        return self.whole or name.find(word) == 0 or \
            any(self.uids[0] <= uid <= self.uids[1] for uid in uids)

    def _ours(self, pid):
        """The test's own, or nobody's: what another test waits for is its."""
        top = None
        while pid > 1:
            st = stat(pid)
            if pid == os.getppid() or st is None:
                return True
            top, pid = pid, st[1]
        return "bailiff" in link(f"/proc/{top}/exe")

    def _processes(self):
        for pid in pids():
            st = stat(pid)
            if st is None or st[0] in "ZX" or pid == os.getpid():
                continue
            status = read(f"/proc/{pid}/status").decode("utf-8", "replace")
            uids = [int(word) for line in status.splitlines()
                    if line.startswith("Uid:") for word in line.split()[1:]]
            exe = link(f"/proc/{pid}/exe")
            name = status.split("\n", 1)[0][6:].strip()
            if not (self._named(uids, name) or
                    self._named(uids, os.path.basename(exe))) or \
                    not (self.whole or self._ours(pid)):
                continue
            self.processes[pid, st[2]] = f"{name} ({exe}), uid {uids[0]}"
            for kind in KINDS:
                self._ns(link(f"/proc/{pid}/ns/{kind}"), pid, "")
            try:
                names = os.listdir(f"/proc/{pid}/fd")
            except OSError:
                continue
            for fd in names:
                to = link(f"/proc/{pid}/fd/{fd}")
                if to.split(":")[0] in KINDS:
                    self._ns(to, pid, f" descriptor {fd}")

    def _ns(self, name, pid, how):
        if name:
            self.ns.setdefault(name, f"process {pid}{how}")

    def _cgroups(self):
        own = {line.split(":", 2)[2] for line in
               read("/proc/self/cgroup").decode().splitlines()}
        found = {}
        for line in read("/proc/self/mountinfo").decode().splitlines():
            head, tail = line.split(" - ", 1)
            if tail.split()[0] not in ("cgroup", "cgroup2"):
                continue
            top = head.split()[4]
            for folder, _, _ in os.walk(top, onerror=None):
                path = folder[len(top):] or "/"
                below = any(path.startswith(o.rstrip("/") + "/")
                            for o in own if o != "/")
                found[folder] = below
        return found

    def _cgroup_ours(self, folder, below):
        if below or "bailiff" in folder:
            return True
        inside = [int(p) for p in read(folder + "/cgroup.procs").split()]
        # 0: a process that this pid namespace does not see
        return any((pid, (stat(pid) or (0, 0, 0))[2]) in self.processes
                   for pid in inside if pid)

    def _files(self, top):
        for folder, dirs, names in os.walk(top):
            dirs[:] = [d for d in dirs
                       if os.path.join(folder, d) not in self.skip]
            for name in dirs + names:
                path = os.path.join(folder, name)
                try:
                    st = os.lstat(path)
                except OSError:
                    continue
                if path in self.skip or path == SLOTS or \
                        not self._named([st.st_uid], name, ".bailiff-"):
                    continue
                self.files[path] = st.st_ino
            if folder.count("/") > top.count("/") + 2:
                dirs[:] = []

    def _ipc(self):
        found = {}
        for kind in ("shm", "sem", "msg"):
            rows = read(f"/proc/sysvipc/{kind}").decode().splitlines()
            head = rows[0].split() if rows else []
            for row in rows[1:]:
                has = dict(zip(head, row.split()))
                uid = int(has.get("uid", -1))
                if self._named([uid], ""):
                    found[f"{kind} {row.split()[1]}"] = f"uid {uid}"
        return found

    def since(self, before):
        """What is here and was not there: a list of words."""
        out = []
        for key, what in self.processes.items():
            if key not in before.processes:
                out.append(f"process {key[0]}: {what}")
        for name, who in self.ns.items():
            if name not in before.ns:
                out.append(f"namespace {name}: {who}")
        for line in self.mounts:
            if line not in before.mounts:
                out.append(f"mount: {line}")
        for folder, below in self.cgroups.items():
            if folder not in before.cgroups and \
                    self._cgroup_ours(folder, below):
                out.append(f"control group: {folder}")
        for slot in self.locks - before.locks:
            out.append(f"lock: {slot}")
        for path, ino in self.files.items():
            if before.files.get(path) != ino:
                out.append(f"file: {path}")
        for name, who in self.ipc.items():
            if name not in before.ipc:
                out.append(f"ipc: {name}, {who}")
        return out


def main():
    how, path = sys.argv[1:]
    words = os.environ.get("LEFT_UIDS", "").split("-")
    uids = tuple(int(w) for w in words) if len(words) == 2 else None
    look = Look(uids=uids, skip=(path,))
    if how == "save":
        with open(path, "wb") as f:
            pickle.dump(look, f)
        return 0
    with open(path, "rb") as f:
        found = look.since(pickle.load(f))
    for what in found:
        print(what)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
