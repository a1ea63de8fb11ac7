"""A small world for tests that kill: process, mount and IPC namespaces of its
own, so that all that is left behind in it was left by this test; and in it
runs of bailiff whose processes are known, and what each of them is doing.
"""

import ctypes
import json
import os
import platform
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

import libleft

LIBC = ctypes.CDLL(None, use_errno=True)
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC = 2, 4, 4096, 16384
MS_PRIVATE, MS_SHARED = 1 << 18, 1 << 20
NEWNS, NEWIPC, NEWPID, NEWNET = 0x20000, 0x8000000, 0x20000000, 0x40000000
PR_SET_PDEATHSIG, PR_SET_TIMERSLACK, PR_SET_CHILD_SUBREAPER = 1, 29, 36

USER, GROUP = 1234, 4321                # the ordinary user, group bailiff
SLOTS_EACH = 400                        # of root, and of the user
RUN_DIR = "/tmp/runs"

SYS_PIDFD_GETFD = 438
RUNS = -2
# System calls by number, of what a stopped process was in.  LATE: those that a
# launch child makes when its files are done, to the last one.
if platform.machine() == "aarch64":
    WRITE, LATE = 64, {90, 167, 43, 211, 174, 176, 172, 221}
else:
    WRITE, LATE = 1, {125, 157, 137, 46, 102, 104, 39, 59}


def call(name, *args):
    args = [a.encode() if isinstance(a, str) else a for a in args]
    if getattr(LIBC, name)(*args) < 0:
        err = ctypes.get_errno()
        raise OSError(err, f"{name} {args}: {os.strerror(err)}")


def mount(src, dst, kind, flags=0, opts=""):
    call("mount", src, dst, kind, ctypes.c_ulong(flags), opts)


def uids_of(first, count):
    """The slots' uids of these worlds: the default rules give them nobody."""
    low = libleft.FIRST + 40000 + 2 * SLOTS_EACH * first
    return low, low + 2 * SLOTS_EACH * count - 1


class World:
    """Built by enter(), in the process that then lives in it."""

    def __init__(self, build, number):
        self.build = os.path.realpath(build)
        self.number = number
        self.count = 0
        self.known = {1}                # processes that are no run's

    def _house(self):
        """Root's own folder, that no other user can write to or above."""
        for house in ("/media", "/mnt", "/srv", "/opt"):
            if os.path.isdir(house) and not os.path.islink(house):
                break
        mount("house", house, "tmpfs", MS_NODEV, "mode=755")
        os.mkdir(house + "/bin", 0o755)
        for name in ("bailiff", "bailiff-helper", "bailiff-rules"):
            shutil.copy(f"{self.build}/{name}", f"{house}/bin/{name}")
        shutil.copytree("examples", house + "/examples")
        shutil.copytree("selftest/payload", house + "/payload")
        self.house = house
        self.client = house + "/bin/bailiff"
        self.helper = house + "/bin/bailiff-helper"
        os.mkdir(house + "/user", 0o755)
        self.user_helper = house + "/user/bailiff-helper"
        shutil.copy(self.helper, self.user_helper)
        os.chown(self.user_helper, 0, GROUP)
        os.chmod(self.user_helper, 0o4750)

    def _rules(self):
        """The default's, with users and uids that no other world has."""
        house = self.house
        subprocess.run(["cp", "-a", "/etc", house + "/etc"], check=True)
        mount(house + "/etc", "/etc", "", MS_BIND)
        os.makedirs("/etc/bailiff", 0o755, exist_ok=True)
        each = SLOTS_EACH * 2
        self.uids = uids_of(self.number, 1)
        lines = []
        with open("policy/default.policy", encoding="utf-8") as f:
            for line in f:
                if line.startswith("uids "):
                    line = f"uids {self.uids[0]} count {each}\n"
                elif line.startswith("caller "):
                    continue
                lines.append(line)
        for who in (0, USER):
            lines.append(f"caller {who} slots {SLOTS_EACH} memory 64g pids "
                         "65536 disk 64g fsize 64g wall 24h\n")
        with open("/etc/bailiff/policy", "w", encoding="utf-8") as f:
            f.writelines(lines)
        os.chmod("/etc/bailiff/policy", 0o644)
        subprocess.run([house + "/bin/bailiff-rules", "compile",
                        "/etc/bailiff/policy", "-o", "/etc/bailiff/rules"],
                       check=True, stdout=subprocess.DEVNULL)

    def _fill(self):
        os.umask(0o022)
        mount("none", "/", "", MS_REC | MS_PRIVATE)
        self._house()
        self._rules()
        for folder, mode in (("/tmp", "1777"), ("/var/tmp", "1777"),
                             ("/dev/shm", "1777"), ("/run", "755")):
            mount("world", folder, "tmpfs", MS_NOSUID | MS_NODEV,
                  "mode=" + mode)
        os.mkdir(self.house + "/mqueue")
        try:
            mount("mqueue", self.house + "/mqueue", "mqueue")
        except OSError:
            pass                        # a kernel without them has none to leak
        mount("proc", "/proc", "proc")
        # a mount that a cell lets through to here must be seen here
        mount("none", "/", "", MS_REC | MS_SHARED)
        os.chdir(self.house)
        os.mkdir(RUN_DIR)
        os.chmod(RUN_DIR, 0o755)
        LIBC.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)

    def env(self, user):
        return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/",
                "XDG_CONFIG_HOME": "/nonexistent", "LC_ALL": "C.UTF-8",
                "BAILIFF_HELPER": self.user_helper if user else self.helper}

    def look(self):
        return libleft.Look(whole=True, skip=[RUN_DIR], folders=(
            *libleft.FOLDERS, self.house))


def enter(build, number, work):
    """Forks; the child's child does work(world) in a world of its own, with
    its result as exit status.  Returns the child's pid."""
    world = World(build, number)
    pid = os.fork()
    if pid != 0:
        return pid
    status = 99
    try:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        call("unshare", NEWNS | NEWPID | NEWIPC)
        first = os.fork()
        if first == 0:
            _first(world, work)
        status = os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])
    except BaseException as why:        # noqa: whatever it was, say so
        print(f"# no world: {why}", flush=True)
    os._exit(status if status >= 0 else 98)


def _first(world, work):
    """Process 1: reaps, and ends with the one that works."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    pid = os.fork()
    if pid == 0:
        status = 97
        try:
            world.known.add(os.getpid())
            world._fill()
            status = work(world) or 0
        except BaseException:           # noqa
            import traceback
            for line in traceback.format_exc().splitlines():
                print("# " + line, flush=True)
        sys.stdout.flush()
        os._exit(status)
    while True:
        done, how = os.wait()
        if done == pid:
            code = os.waitstatus_to_exitcode(how)
            os._exit(code if code >= 0 else 96)


# --- one run ---------------------------------------------------------------


class Run:
    """A client and all its processes.  Its keeper adopts what loses its
    parent, so that the keeper is childless when nothing is left."""

    def __init__(self, world, argv, load, user=False, want_json=True):
        self.world, self.load, self.user = world, load, user
        self.json = want_json
        self.dir = f"{RUN_DIR}/{world.count}"
        world.count += 1
        os.mkdir(self.dir, 0o755)
        if user:
            os.chown(self.dir, USER, USER)
        self.status = self.ended = self.empty = None
        self.began = time.monotonic()
        self.seen_helper = None
        self.inits = []                 # in their order of birth
        self.first = {}                 # init: the first child it had
        self.kids = {}                  # init: how many launch children so far
        self.tree = {}                  # pid: parent when first seen
        self.strangers = set()
        self.pipe, out = os.pipe()
        self.keeper = os.fork()
        if self.keeper == 0:
            os.close(self.pipe)
            try:
                self._keep(out, argv)
            finally:
                os._exit(1)
        os.close(out)
        self.text = b""
        self.client = None
        while self.client is None:
            self.hear(True)
        world.known.add(self.keeper)
        self.tree[self.client] = self.keeper

    def _keep(self, out, argv):
        os.setsid()
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        pid = os.fork()
        if pid == 0:
            os.chdir(self.dir)
            if self.user:
                os.setgroups([GROUP])
                os.setresgid(USER, USER, USER)
                os.setresuid(USER, USER, USER)
            most = resource.getrlimit(resource.RLIMIT_CORE)[1]
            resource.setrlimit(resource.RLIMIT_CORE,
                               (min(1, most) if most >= 0 else 1, most))
            for sig in signal.SIGPIPE, signal.SIGXFSZ:  # Python ignores them
                signal.signal(sig, signal.SIG_DFL)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            for fd, to in ((0, os.open("/dev/null", os.O_RDONLY)),
                           (1, os.open("out", flags, 0o644)),
                           (2, os.open("err", flags, 0o644))):
                os.dup2(to, fd)
            os.closerange(3, 1024)
            os.execve(argv[0], argv, self.world.env(self.user))
        os.write(out, f"P {pid} 0\n".encode())
        while True:
            try:
                done, how = os.wait()
            except ChildProcessError:
                os.write(out, f"E 0 {time.monotonic()}\n".encode())
                os._exit(0)
            if done == pid:
                code = os.waitstatus_to_exitcode(how)
                os.write(out, f"S {code} {time.monotonic()}\n".encode())

    def hear(self, wait=False):
        os.set_blocking(self.pipe, wait)
        try:
            self.text += os.read(self.pipe, 4096)
        except BlockingIOError:
            return
        *lines, self.text = self.text.split(b"\n")
        for line in lines:
            what, number, when = line.split()
            if what == b"P":
                self.client = int(number)
            elif what == b"S":
                self.status, self.ended = int(number), float(when)
            else:
                self.empty = float(when)

    def wait(self, what, seconds):
        """True once what ("ended", "empty") is known."""
        until = time.monotonic() + seconds
        while getattr(self, what) is None:
            self.hear()
            if getattr(self, what) is None:
                if time.monotonic() > until:
                    return False
                time.sleep(0.001)
        return True

    def left(self):
        """Who is still there, for people."""
        self.scan()
        out = []
        for pid in self.tree:
            st = libleft.stat(pid)
            if st is not None:
                name = libleft.read(f"/proc/{pid}/comm").decode().strip()
                out.append(f"{pid} {name} {st[0]} child of {st[1]}")
        return out

    def close(self):
        """Forgets it.  Ends what is left: only a test that failed has any."""
        if self.empty is None:
            self.hear()
        if self.empty is None:
            for _ in range(50):
                self.scan()
                for pid in list(self.tree):
                    kill(pid, signal.SIGKILL)
                if self.wait("empty", 0.1):
                    break
        os.close(self.pipe)
        try:
            os.kill(self.keeper, signal.SIGKILL)
            os.waitpid(self.keeper, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        self.world.known.discard(self.keeper)
        shutil.rmtree(self.dir, ignore_errors=True)

    # --- its processes ---

    def scan(self):
        for name in os.listdir("/proc"):
            if not name[0].isdigit():
                continue
            pid = int(name)
            if pid in self.tree or pid in self.strangers or \
                    pid in self.world.known:
                continue
            st = libleft.stat(pid)
            if st is None:
                continue
            parent = st[1]
            if parent not in self.tree and parent != self.keeper:
                self.strangers.add(pid)
                continue
            self.tree[pid] = parent
            if parent == self.client:
                self.seen_helper = pid
            elif parent == self.seen_helper:
                self.inits.append(pid)
            elif parent in self.inits:
                self.first.setdefault(parent, pid)
                if is_helper(pid):
                    self.kids[parent] = self.kids.get(parent, 0) + 1

    def children(self, init):
        """{pid: state} of those whose parent it is now."""
        found = {}
        for pid in self.tree:
            st = libleft.stat(pid)
            if st is not None and st[1] == init:
                found[pid] = st[0]
        return found

    def find(self, role):
        """The process that has this role now, or None."""
        self.scan()
        if role == "client":
            return self.client
        if role == "helper":
            return self.seen_helper
        if role in ("init", "judge init", "answer init"):
            inits = [i for i in self.inits if alive(i)]
            if role == "init" or len(self.inits) < 2:
                return inits[-1] if inits else None
            pick = self.inits[0 if role == "judge init" else 1]
            return pick if alive(pick) else None
        if role == "launch":
            for pid in sorted(self.tree, reverse=True):
                if self.tree[pid] in self.inits and is_helper(pid):
                    return pid
            return None
        which = 0 if self.load == "exec" or role == "judge" else 1
        if len(self.inits) <= which:
            return None
        for pid in sorted(self.tree, reverse=True):
            if self.tree[pid] == self.inits[which] and alive(pid) and \
                    not is_helper(pid):
                return pid
        return None

    # --- what they do ---

    def state(self, role, pid):
        """The name of what pid does, or None if it can't be told."""
        self.scan()
        st = libleft.stat(pid)
        if st is None or st[0] in "ZX":
            return None
        return getattr(self, "_" + role.split()[-1])(pid)

    def _client(self, pid):
        helper = self.seen_helper
        if helper is None:
            return "before the helper"
        if not alive(helper) or "anon_inode:[pidfd]" in links_of(pid):
            return "ending"
        owners, proof = sockets_of(pid, helper)
        if proof:
            return "proof"
        if owners < (2 if self.load == "run" else 1):
            return "ending" if self.first else \
                "waiting for CELL" if self.inits else "starting the helper"
        if self.load == "run":
            if self.find("judge") is not None:
                return "pumping"
        elif self.first:
            first = self.first[self.inits[0]]
            if not alive(first):
                return "get after the end" if any(map(
                    is_helper, self.children(self.inits[0]))) else None
            if not is_helper(first):
                return "pumping"
        done = self.load == "run" and self.first and not any(
            alive(k) and is_helper(k) for k in self.tree
            if self.tree[k] in self.inits)
        return None if done else "spawned"

    def _before_go(self, init):
        """The client can't have said GO: it has no owner socket of this
        cell, or still has the socket for the proof beside it."""
        at = self.inits.index(init)
        owners, proof = sockets_of(self.client, self.seen_helper)
        return not self.first and (
            owners <= at or (proof and owners == at + 1))

    def _helper(self, pid):
        if not is_helper(pid):
            return None                 # not yet: the client's own child
        if field(pid, "CapBnd") == field("self", "CapBnd"):
            return "before HELLO"
        living = [i for i in self.inits if alive(i)]
        if any(field(i, "Seccomp") == "0" for i in living):
            return "CELL set-up"
        if not self.inits:
            return "waiting for CELL"
        if not living or not alive(self.client) or \
                "anon_inode:[pidfd]" in links_of(self.client):
            return "ending"
        return "idle with cells"

    def _init(self, pid):
        if field(pid, "Seccomp") == "0":
            return "set-up"
        if self._before_go(pid):
            return "waiting for GO"
        states = self.children(pid).values()
        if "Z" in states:
            return "reaping"
        return "spawn runs" if states else "idle"

    def _launch(self, pid):
        if not is_helper(pid):
            return None
        uid = field(pid, "Uid")
        if uid is None:
            return None
        if uid.split()[0] == "0":
            return "before its drop"
        nr = syscall(pid)
        if nr == RUNS:
            return "spec and files"     # or later: frozen, it will be told
        return None if nr == -1 else \
            "before exec" if nr in LATE else "spec and files"

    def _judge(self, pid):
        if is_helper(pid):
            return None
        if writes(pid):
            return "printing"
        return "waiting for an answer" if self.children(pid) else "running"

    def _answer(self, pid):
        if is_helper(pid):
            return None
        return "writing" if writes(pid) else "running"

    # --- what came of it ---

    def bytes(self, name):
        return libleft.read(f"{self.dir}/{name}")

    def outcome(self):
        """A few words: right, failed FACTS, none KIND REASON, fact F, 125
        CODE, silent, cut; or odd and why, for what must never be."""
        out = self.bytes("out")
        if self.status < 0 and not out:
            return "silent"
        if self.load == "exec" and not self.json:
            return self._plain(out)
        try:
            doc = json.loads(out)
        except ValueError:
            if self.status < 0:
                return "cut"
            return f"odd: status {self.status} and no document"
        try:
            word = self._run(doc) if self.load == "run" else self._exec(doc)
        except (KeyError, TypeError) as why:
            return f"odd: document without {why}"
        if self.status < 0 and not word.startswith("odd"):
            return word if word == "right" else f"odd: killed, {word}"
        return word

    def _plain(self, out):
        if self.status == 0:
            return "right" if self._got(out) else "odd: status 0, wrong output"
        err = self.bytes("err").decode("utf-8", "replace").strip()
        if self.status == 125:
            return "125 " + err[err.rfind("[") + 1:].split("]")[0]
        if self.status == 130 and "[cancelled]" in err:
            return "cancelled"
        if self.status == 124:
            return "fact time"
        if self.status > 128:
            return f"fact signal {self.status - 128}"
        if self.status < 0:
            return "cut"
        return f"odd: status {self.status}, {err}"

    def _got(self, out):
        good = out.endswith(b"\nresult 50000\n") and len(out) == 307213
        if os.path.exists(self.dir + "/got"):
            good = good and self.bytes("got") == b"m" * (4 << 20)
        elif self.get:
            good = False
        return good

    get = False

    def _ended(self, status):
        """With that, or killed when all was told."""
        return self.status == status or self.status < 0

    def _exec(self, doc):
        if doc.get("error"):
            if doc.get("exit_code") is not None and not self.get:
                return "odd: an error and an exit code"
            if doc["error"]["kind"] == "cancelled" and self.status == 130:
                return "cancelled"
            return "125 " + doc["error"]["code"] if self._ended(125) \
                else f"odd: error with status {self.status}"
        if doc["limit"] == "time" and self.status == 124:
            return "fact time"
        if doc["signal"] is not None and doc["limit"] is None and \
                self.status == 128 + doc["signal"]:
            return f"fact signal {doc['signal']}"
        if doc["exit_code"] == 0 and self._ended(0) and \
                self._got(doc["stdout"].encode()):
            return "right"
        return f"odd: status {self.status}, {str(doc)[:200]}"

    def _run(self, doc):
        told = "score" in doc or "passed" in doc
        if doc["verdict"] == "none":
            cancelled = doc["failure_kind"] == "cancelled"
            if told or not doc["mask_sample"] or \
                    not self._ended(130 if cancelled else 3):
                return f"odd: status {self.status}, {str(doc)[:200]}"
            if cancelled:
                return "cancelled"
            return f"none {doc['failure_kind']} {doc['failure_reason']}"
        if not told or doc["mask_sample"] or "failure_kind" in doc:
            return f"odd: {str(doc)[:200]}"
        if doc["verdict"] == "passed" and doc["passed"] is True and \
                doc["score"] == 1 and self._ended(0):
            return "right"
        if doc["verdict"] == "failed" and doc["passed"] is False and \
                doc["score"] < 1 and self.status == 1:
            facts = {a["limit"] or (f"signal {a['signal']}" if a["signal"]
                                    else None) for a in doc["answers"]}
            return "failed " + " ".join(sorted(f for f in facts if f))
        return f"odd: status {self.status}, {str(doc)[:200]}"

    def more(self):
        """What people want to know of an outcome that is none."""
        more = self.bytes("err").decode("utf-8", "replace").strip()[:300]
        try:
            for a in json.loads(self.bytes("out")).get("answers", []):
                more += " " + str([a[k] for k in (
                    "exit_code", "signal", "limit", "wall_ms", "cpu_ms")])
        except ValueError:
            pass
        return more

    def strange_files(self):
        """Names in the run's folder that nobody asked for, or half a file."""
        bad = [n for n in os.listdir(self.dir)
               if n not in ("out", "err", "got")]
        if os.path.exists(self.dir + "/got") and \
                os.path.getsize(self.dir + "/got") != 4 << 20:
            bad.append("half of got")
        return bad


def kill(pid, sig):
    try:
        os.kill(pid, sig)
        return True
    except ProcessLookupError:
        return False


def alive(pid):
    st = libleft.stat(pid)
    return st is not None and st[0] not in "ZX"


def is_helper(pid):
    return libleft.link(f"/proc/{pid}/exe").endswith("/bailiff-helper")


def links_of(pid):
    try:
        return [libleft.link(f"/proc/{pid}/fd/{fd}")
                for fd in os.listdir(f"/proc/{pid}/fd") if len(fd) > 1 or
                fd > "2"]
    except OSError:
        return []


def sockets_of(pid, helper):
    """How many sockets of its cells' owner it has, for these are the helper's
    making; and whether there is one for a proof."""
    owners, proof = 0, False
    try:
        of = os.pidfd_open(pid)
    except OSError:
        return 0, False
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            if not libleft.link(f"/proc/{pid}/fd/{fd}").startswith("socket"):
                continue
            mine = LIBC.syscall(SYS_PIDFD_GETFD, of, int(fd), 0)
            if mine < 0:
                continue
            with socket.socket(fileno=mine) as s:
                if s.family == socket.AF_NETLINK:
                    proof = True
                elif struct.unpack("iii", s.getsockopt(
                        socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0] == \
                        helper:
                    owners += 1
    except OSError:
        pass
    finally:
        os.close(of)
    return owners, proof


def field(pid, name):
    text = libleft.read(f"/proc/{pid}/status").decode("utf-8", "replace")
    at = text.find("\n" + name + ":")
    if at < 0:
        return None
    return text[at + len(name) + 2:text.index("\n", at + 1)].strip()


def syscall(pid):
    """The number of the call that pid is in or stopped after, -1 for none;
    RUNS: it runs."""
    words = libleft.read(f"/proc/{pid}/syscall").split()
    return RUNS if words == [b"running"] else int(words[0]) if words else -1


def writes(pid):
    words = libleft.read(f"/proc/{pid}/syscall").split()
    return len(words) > 1 and words[0] == b"%d" % WRITE and \
        int(words[1], 16) == 1


def freeze(pid):
    """STOP, and wait until it stands.  False: it is gone, or does not."""
    if not kill(pid, signal.SIGSTOP):
        return False
    until = time.monotonic() + 0.2
    while time.monotonic() < until:
        st = libleft.stat(pid)
        if st is None or st[0] in "ZX":
            return False
        if st[0] in "Tt":
            return True
    kill(pid, signal.SIGCONT)
    return False
