#!/usr/bin/python3
"""Whatever dies or stops, nothing is left, and no score comes of it.

Client, helper, cell init, launch child, judge and answer are caught in each
of their states, by their place in the process tree and by what /proc says of
them, and are killed or stopped there.  A process is stopped before it is
looked at, so that its state is known at the moment of the signal; every third
SIGKILL comes without that, to whatever was seen a moment before.

KILLS=20 of each signal in each state; KILL_SECONDS=480 for all of them.
"""

import collections
import mmap
import os
import random
import signal
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import libleft                                              # noqa: E402
import libworld                                             # noqa: E402
from libworld import Run, alive, freeze, kill               # noqa: E402

KILLS = int(os.environ.get("KILLS", "20"))
SECONDS = int(os.environ.get("KILL_SECONDS", "480"))
BUILD = os.environ.get("BUILD", "build/release")
WORKERS = 2
PENDING = 24                    # runs that a stopped process holds up, at once
GONE_S = 2                      # for all that a run had
BOUND_S = 40                    # for the result, whoever is stopped
SIGNALS = (signal.SIGKILL, signal.SIGSTOP)

STATES = {
    "client": ("before the helper", "starting the helper", "waiting for CELL",
               "proof", "spawned", "pumping", "get after the end", "ending"),
    "helper": ("before HELLO", "waiting for CELL", "CELL set-up",
               "idle with cells", "ending"),
    "init": ("set-up", "waiting for GO", "idle", "spawn runs", "reaping"),
    "launch": ("before its drop", "spec and files", "before exec"),
    "judge": ("running", "waiting for an answer", "printing"),
    "answer": ("running", "writing"),
}
ALL = [(role, state) for role in STATES for state in STATES[role]]
# States that a run goes through more than once: no reason to give it up.
COMES_BACK = {("init", "idle"), ("init", "spawn runs"), ("init", "reaping")}


class Counts:
    """Shared by the workers."""

    def __init__(self):
        self.map = mmap.mmap(-1, 4096 * 4)

    def at(self, where, sig):
        return 4 * (2 * ALL.index(where) + SIGNALS.index(sig))

    def get(self, where, sig):
        return struct.unpack_from("i", self.map, self.at(where, sig))[0]

    def add(self, where, sig):
        at = self.at(where, sig)
        struct.pack_into("i", self.map, at, self.get(where, sig) + 1)


class Shot:
    """A signal that was sent, and what it was sent to."""

    def __init__(self, run, role, state, sig, pid, frozen):
        self.run, self.role, self.state = run, role, state
        self.sig, self.pid, self.frozen = sig, pid, frozen
        self.cell = None                # init, launch: whose cell
        self.at = time.monotonic()
        self.hold = None                # a stopped client: until then

    def __str__(self):
        return (f"{self.sig.name} to {self.role}, {self.state} "
                f"({self.run.load}{' of a user' if self.run.user else ''}"
                f"{'' if self.frozen else ', unfrozen'})")


def want_of(shot):
    """The outcomes that are right, as a test of the outcome's words.  A score
    comes of a run that was over, and of an answer that was shot at."""
    role, state, killed = shot.role, shot.state, shot.sig == signal.SIGKILL
    run = shot.run
    ours = "none infrastructure" if run.load == "run" else "125 "
    # what may have ended, unseen, before the signal took effect
    late = not shot.frozen

    def is_ours(word):
        return word.startswith(ours)

    if role == "client" and killed:
        return lambda w: w == "silent" or \
            (w in ("right", "cut") and (state == "ending" or late)) or \
            (w == "cut" and not run.json)
    if role == "client":
        # it slept through its own limits: they held, or were not needed
        return lambda w: w in ("right", "fact time") or \
            w.startswith("none judge") or (run.load == "run" and is_ours(w))
    if role == "helper":
        return lambda w: is_ours(w) or (w == "right" and (
            late or not killed or state in ("idle with cells", "ending")))
    if role == "init":
        return lambda w: is_ours(w) or w.startswith("none judge") or \
            (w == "right" and (late or state == "idle"))
    if role == "launch" and run.load == "exec":
        # caught in execve, it is the command already; and a late one is
        if killed:
            return lambda w: is_ours(w) or (w == "fact signal 9" and (
                state == "before exec" or late)) or (w == "right" and late)
        return lambda w: w == "fact time"
    if role == "launch":
        # an answer's is the judge's to judge, but it can't have been right
        answers = shot.cell == 1
        return lambda w: is_ours(w) or (w == "right" and late) or \
            (w.startswith("failed") and answers) or \
            (w.startswith("none judge") and (late or not killed)) or \
            (w == "none setup judge_time_short" and not killed)
    if role == "judge":
        return lambda w: w.startswith("none judge") or (w == "right" and late)
    if run.load == "run":
        fact = "failed signal 9" if killed else "failed time"
        return lambda w: w == fact or (w == "right" and late)
    # it is told that what it should have left to be copied is not there
    return lambda w: w == ("fact signal 9" if killed else "fact time") or \
        (w == "right" and late) or (w == "125 get_missing" and run.get)


class Worker:
    def __init__(self, world, counts, until):
        self.world, self.counts, self.until = world, counts, until
        self.bad = collections.Counter()
        self.saw = collections.defaultdict(collections.Counter)
        self.tries = 0
        self.shots = 0
        self.slowest = collections.Counter()
        self.pending = []
        self.random = random.Random(os.getpid())
        with open("/tmp/big", "wb") as f:
            f.write(b"\0" * (16 << 20))

    def complain(self, what, shot, word=""):
        self.bad[what] += 1
        if self.bad[what] <= 10:
            print(f"# {what}: {shot} {word}", flush=True)

    # --- loads ---

    def start(self, role, state, sig):
        """A run that will pass through this state."""
        load = {"judge": "run", "client": "exec" if state.startswith("get")
                else self.random.choice(("exec", "run"))}.get(
                    role, self.random.choice(("exec", "run")))
        user = self.random.random() < 0.4
        house, world = self.world.house, self.world
        if load == "run":
            stop = sig == signal.SIGSTOP
            if state == "printing" or role in ("answer", "init", "launch") or \
                    self.random.random() < 0.6:
                env, answer = "payload/judged", "payload/work.py"
            else:
                env = "examples/two_sum"
                answer = env + "/answers/" + self.random.choice(
                    ("right_table.py", "right_sorted.py"))
            return Run(world, [
                world.client, "run", f"{house}/{env}", "--answer",
                f"{house}/{answer}", "--json", "-t", "2" if stop else "10",
                "--judge-timeout", "8" if stop else "40"], load, user)
        # a stopped launch child of --get would be waited for a minute
        get = role == "client" or (
            sig == signal.SIGKILL and self.random.random() < 0.5)
        as_json = self.random.random() < 0.5
        words = [world.client, "exec", "-t",
                 "2" if sig == signal.SIGSTOP else "20",
                 "--put", f"{house}/payload/work.py:work.py",
                 "-e", "PATH=" + "/none:" * 700 + "/usr/bin"]
        if role in ("launch", "client"):
            words += ["--put", "/tmp/big:big"]
        if get:
            words += ["--get", "made:got"]
        if as_json:
            words.append("--json")
        run = Run(world, words + ["--", "python3", "work.py", "30"], "exec",
                  user, as_json)
        run.get = get
        return run

    # --- hunting ---

    def needed(self, where, sig):
        return self.counts.get(where, sig) < KILLS

    def fire(self, run, role, state, sig, pid, frozen):
        shot = Shot(run, role, state, sig, pid, frozen)
        if sig == signal.SIGKILL:
            kill(pid, sig)
        if role in ("init", "launch"):
            shot.cell = run.inits.index(
                pid if role == "init" else run.tree[pid])
        self.counts.add((role, state), sig)
        self.shots += 1
        if role != "client":
            kill(run.client, signal.SIGCONT)
        return shot

    def hunt(self, role, want, sig):
        """A Shot, or None: the run was over, or past it, before."""
        run = self.start(role, want, sig)
        order = STATES[role]
        frozen = sig == signal.SIGSTOP or self.random.random() < 0.67
        cyclic = role in ("judge", "answer", "launch") or \
            (role, want) in COMES_BACK
        pause = self.random.choice((0, 0, 1e-5, 1e-4, 5e-4))
        until = time.monotonic() + 8
        pick = role
        if role == "init":
            pick = self.random.choice(
                ("init", "judge init", "answer init"))
        while time.monotonic() < until:
            run._hear()
            if run.ended is not None:
                break
            pid = run.find(pick)
            if pid is None:
                continue
            state = run.state(role, pid)
            if state is None:
                continue
            here, goal = order.index(state), order.index(want)
            if here == goal and not frozen:
                return self.fire(run, role, state, sig, pid, False)
            if here < goal - 1 and not cyclic:
                continue
            if here > goal and not cyclic:
                break
            if here != goal and self.random.random() < 0.5:
                time.sleep(pause)
                continue
            if want in ("proof", "waiting for GO"):
                self.open_window(run, role)
            if not freeze(pid):
                continue
            state = run.state(role, pid)
            if want == "proof":
                state = self.step(run, state)
            # what was found counts too, if it is still needed
            if state is not None and (state == want or (
                    sig == signal.SIGKILL and
                    self.needed((role, state), sig))):
                return self.fire(run, role, state, sig, pid, True)
            kill(pid, signal.SIGCONT)
            kill(run.client, signal.SIGCONT)
            time.sleep(pause)
        kill(run.client, signal.SIGCONT)
        self.give_up(run)
        return None

    def open_window(self, run, role):
        """Two states that last for some 100 us: a client that sleeps until
        its cell is there has the proof before it, its init waits for GO."""
        if run.find("client") is None or not freeze(run.client):
            return
        until = time.monotonic() + 0.05
        while run.state("client", run.client) == "waiting for CELL" and \
                time.monotonic() < until:
            run.scan()
            if run.inits and libworld.field(run.inits[-1], "Seccomp") == "2":
                time.sleep(0.001)       # for the helper's reply
                break

    @staticmethod
    def step(run, state):
        """Lets the client go on by as little as can be, out of its wait."""
        for i in range(60):
            if state != "waiting for CELL":
                break
            kill(run.client, signal.SIGCONT)
            until = time.monotonic() + i * 4e-6
            while time.monotonic() < until:
                pass
            if not freeze(run.client):
                return None
            state = run.state("client", run.client)
        return state

    def give_up(self, run):
        """An undisturbed run, but for being stopped: it must be right."""
        if not run.wait("ended", 60):
            self.complain("a run that was not shot at hangs", run.load,
                          run.left())
        else:
            word = run.outcome()
            # it was slowed down by the hunt
            slow = run.ended - run.began > 1.9 and word in (
                "fact time", "failed time", "none judge judge_timeout")
            if word != "right" and not slow:
                self.complain("a run that was not shot at", run.load, word)
            self.gone(run, run.ended, run.load)
        run.close()

    # --- afterwards ---

    def gone(self, run, since, shot):
        """Nothing of it is there any more, GONE_S after since."""
        if not run.wait("empty", max(0.0, since + GONE_S - time.monotonic())):
            self.complain("left after 2 s", shot, run.left())
            return
        self.slowest["gone"] = max(self.slowest["gone"], run.empty - since)
        if libleft.mounts() != self.mounts:
            self.complain("mounts left", shot, list(
                set(libleft.mounts()) - set(self.mounts)))
        odd = run.strange_files()
        if odd:
            self.complain("files left", shot, odd)

    def settle(self, shot):
        """Looks at what came of it; the run is over then."""
        run = shot.run
        word = run.outcome() if run.ended is not None else "no result"
        self.saw[shot.role, shot.state, shot.sig][word] += 1
        if run.ended is not None and not want_of(shot)(word):
            err = run.bytes("err").decode("utf-8", "replace").strip()
            self.complain("wrong outcome", shot, f"-> {word} | {err[:300]}")
        if shot.role != "client" and run.ended is not None:
            where = f"result after {shot.sig.name} to {shot.role}"
            self.slowest[where] = max(self.slowest[where],
                                      run.ended - shot.at)
        run.close()
        self.next_run(shot)
        if self.shots % 10 == 0 and not self.pending:
            self.look("left after some shots")

    def look(self, when):
        for what in self.world.look().since(self.before):
            self.complain(when, what)

    def next_run(self, shot):
        """The next command works, and frees what was still held."""
        world, user = self.world, shot.run.user
        run = Run(world, [world.client, "exec", "--", "echo", "next"], "exec",
                  user, False)
        if self.shots % 10 == 0:
            run.close()
            run = Run(world, [
                world.client, "run", world.house + "/payload/judged",
                "--answer", world.house + "/payload/work.py", "--json"],
                "run", user)
        if not run.wait("ended", 30):
            self.complain("the next run hangs", shot)
        elif run.load == "exec":
            if (run.status, run.bytes("out")) != (0, b"next\n"):
                self.complain("the next run fails", shot, run.bytes("err"))
        elif run.outcome() != "right":
            self.complain("the next run fails", shot, run.outcome())
        run.wait("empty", GONE_S)
        run.close()
        until = time.monotonic() + GONE_S
        while len(libleft.locks()) > sum(map(self.holds, self.pending)):
            if time.monotonic() > until:
                self.complain("locks left", shot, libleft.locks())
                break
            time.sleep(0.01)

    @staticmethod
    def holds(shot):
        """How many locks it may hold: its inits, and a helper for them and
        for one that it has not made yet."""
        run = shot.run
        run.scan()
        if run.seen_helper is not None and alive(run.seen_helper):
            return len(run.inits) + (shot.role == "helper")
        return sum(map(alive, run.inits))

    def after_kill(self, shot):
        run = shot.run
        if shot.role in ("client", "helper", "init"):
            self.gone(run, shot.at, shot)
        elif run.wait("ended", BOUND_S):
            self.gone(run, run.ended, shot)
        else:
            self.complain("no result", shot, run.left())
        run.wait("ended", 1)
        self.settle(shot)

    def after_stop(self, shot):
        """True when it is through; nothing is waited for."""
        run, now = shot.run, time.monotonic()
        run._hear()
        if shot.role == "client" and shot.hold is None:
            shot.hold = shot.at + 2.0 + 1.5     # past the command's limit
        if shot.hold and now < shot.hold:
            return False
        if shot.hold and shot.hold > 0:
            # the client sleeps, and its cells keep the time
            run.scan()
            if run.load == "exec" and not shot.state.startswith("get"):
                late = [p for p in run.tree if alive(p) and p not in (
                    run.client, run.seen_helper, *run.inits)]
                if late:
                    self.complain("past its limit of time", shot, late)
            kill(run.client, signal.SIGCONT)
            shot.hold = -1
            return False
        if run.ended is None and now < shot.at + BOUND_S:
            return False
        if run.ended is None:
            self.complain("no result in time", shot, run.left())
        kill(shot.pid, signal.SIGCONT)
        self.gone(run, max(time.monotonic(), run.ended or 0), shot)
        return True

    def turn(self):
        for shot in list(self.pending):
            if self.after_stop(shot):
                self.pending.remove(shot)
                self.settle(shot)

    def pick(self):
        """Something that is wanted; mostly a stop, for they take long."""
        order = [signal.SIGSTOP, signal.SIGKILL]
        if self.random.random() < 0.3:
            order.reverse()
        for sig in order:
            if sig == signal.SIGSTOP and len(self.pending) >= PENDING:
                continue
            need = [w for w in ALL if self.needed(w, sig)]
            if need:
                return self.random.choice(need), sig
        return None

    def work(self):
        self.mounts = libleft.mounts()
        self.before = self.world.look()
        while time.monotonic() < self.until:
            self.turn()
            what = self.pick()
            if what is None:
                if not self.pending:
                    break
                time.sleep(0.01)
                continue
            self.tries += 1
            (role, state), sig = what
            shot = self.hunt(role, state, sig)
            if shot is None:
                continue
            if sig == signal.SIGSTOP:
                self.pending.append(shot)
            else:
                self.after_kill(shot)
        while self.pending:
            self.turn()
            time.sleep(0.01)
        self.look("left at the end")
        return 1 if self.bad else 0


def controls(world):
    """What is left on purpose is found; what is not, is not."""
    shown = []

    def found(kind, make, undo):
        before = world.look()
        thing = make()
        seen = [w for w in world.look().since(before) if w.startswith(kind)]
        undo(thing)
        again = world.look().since(before)
        shown.append((f"control: {kind} is found", bool(seen), again))

    def sleeper(*how):
        pid = subprocess.Popen(["unshare", *how, "sleep", "600"])
        while b"sleep" not in libleft.read(f"/proc/{pid.pid}/cmdline")[:5]:
            time.sleep(0.01)
        return pid

    def end(child):
        child.kill()
        child.wait()

    for kind, flag in (("net", "-n"), ("mnt", "-m"), ("ipc", "-i"),
                       ("uts", "-u"), ("cgroup", "-C")):
        found(f"namespace {kind}:", lambda flag=flag: sleeper(flag), end)
    found("process", lambda: sleeper("--"), end)

    def holder():
        """The namespace's one process is gone, a descriptor keeps it."""
        child = sleeper("-n")
        fd = os.open(f"/proc/{child.pid}/ns/net", os.O_RDONLY)
        end(child)
        keep = subprocess.Popen(["sleep", "600"], pass_fds=[fd])
        os.close(fd)
        return keep
    found("namespace net:", holder, end)

    def mounted():
        os.mkdir("/tmp/m")
        libworld.mount("left", "/tmp/m", "tmpfs")

    def unmount(_):
        libworld.call("umount2", "/tmp/m", 2)
        os.rmdir("/tmp/m")
    found("mount", mounted, unmount)
    # through a namespace that shares its mounts with this one, as a cell would
    # that forgot to cut them off
    found("mount", lambda: (os.mkdir("/tmp/m"), subprocess.run(
        ["unshare", "-m", "--propagation", "shared", "mount", "-n", "-t",
         "tmpfs", "left", "/tmp/m"], check=True)), unmount)

    def locked():
        import fcntl
        fd = os.open(libleft.SLOTS, os.O_RDWR)
        fcntl.fcntl(fd, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 77, 1, 0))
        return fd
    found("lock", locked, os.close)
    for folder in (*libleft.FOLDERS, os.getcwd()):
        path = folder + "/left-by-kill.t"
        found("file", lambda: open(path, "w", encoding="ascii").close(),
              lambda _: os.unlink(path))

    def shared():
        words = subprocess.run(["ipcmk", "-M", "4096"], check=True,
                               stdout=subprocess.PIPE).stdout.split()
        return words[-1].decode()
    found("ipc", shared, lambda n: subprocess.run(
        ["ipcrm", "-m", n], check=True))

    def group():
        for line in libleft.read("/proc/self/mountinfo").decode().splitlines():
            if " - cgroup" in line:
                path = line.split()[4] + f"/bailiff-left-{os.getpid()}"
                try:
                    os.mkdir(path)
                    return path
                except OSError:
                    pass
        return None
    path = group()
    if path is not None:
        os.rmdir(path)
        found("control group", group, os.rmdir)

    run = Run(world, ["/bin/sh", "-c", "setsid sleep 600 & exit 0"], "exec",
              False, False)
    shown.append(("control: a client that leaves a process is found",
                  not run.wait("empty", GONE_S) and
                  any("sleep" in w for w in run.left()), []))
    run.close()
    never = ("failed signal 9", "failed ", "right", "odd: x")
    for role in ("helper", "init", "judge"):
        for load in ("exec", "run"):
            fake = type("Fake", (), {"load": load, "user": False,
                                     "get": False, "json": True})
            shot = Shot(fake, role, STATES[role][0], signal.SIGKILL, 0, True)
            shown.append((f"control: no score of a killed {role} passes, "
                          f"{load}", not any(map(want_of(shot), never)), []))
    for name, good, again in shown:
        print(f"control {int(good and not again)} {name} {again or ''}",
              flush=True)
    return 0


def child(counts, number, until, out):
    """Starts a worker in its world; its words go to out."""
    def work(world):
        worker = Worker(world, counts, until)
        status = worker.work()
        for where, words in worker.saw.items():
            for word, n in words.items():
                print("saw", "|".join((where[0], where[1], where[2].name,
                                       str(n), word)), flush=True)
        for what, n in worker.bad.items():
            print("bad", n, what, flush=True)
        for what, seconds in worker.slowest.items():
            print(f"slowest {seconds:.3f} {what}", flush=True)
        print(f"end {worker.shots} {worker.tries}", flush=True)
        return status

    def first(world):
        os.dup2(out, 1)
        if number == 0:
            # a first run, so that what stays for good is there
            subprocess.run([world.client, "exec", "--", "true"], check=True,
                           env=world.env(False))
            controls(world)
        subprocess.run([world.client, "exec", "--", "true"], check=True,
                       env=world.env(False))
        return work(world)
    return libworld.enter(BUILD, number, first)


def main():
    for name in ("bailiff", "bailiff-helper", "bailiff-rules"):
        if not os.access(f"{BUILD}/{name}", os.X_OK):
            print(f"1..0 # SKIP {BUILD} has no {name}")
            return 0
    counts, n, failed = Counts(), 0, 0
    before = libleft.Look(uids=(libleft.FIRST + 40000,
                                libleft.FIRST + 50000))
    until = time.monotonic() + SECONDS
    reader, writer = os.pipe()
    pids = [child(counts, number, until, writer) for number in range(WORKERS)]
    os.close(writer)
    saw = collections.defaultdict(collections.Counter)
    slowest, bad = collections.Counter(), collections.Counter()
    controls_seen, ends = [], []
    with os.fdopen(reader, encoding="utf-8", errors="replace") as f:
        for line in f:
            words = line.rstrip("\n").split(" ", 1)
            if words[0] == "saw":
                *where, number, what = words[1].split("|", 4)
                saw[tuple(where)][what] += int(number)
            elif words[0] == "bad":
                number, what = words[1].split(" ", 1)
                bad[what] += int(number)
            elif words[0] == "control":
                controls_seen.append(words[1])
            elif words[0] == "slowest":
                seconds, what = words[1].split(" ", 1)
                slowest[what] = max(slowest[what], float(seconds))
            elif words[0] == "end":
                ends.append(words[1])
            else:
                print(line, end="", flush=True)
    statuses = [os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]) for p in pids]

    def ok(good, name):
        nonlocal n, failed
        n += 1
        failed += not good
        print(f"{'ok' if good else 'not ok'} {n} - {name}")

    for line in controls_seen:
        good, name = line.split(" ", 1)
        ok(good == "1", name.strip())
    ok(len(controls_seen) >= 20, f"{len(controls_seen)} controls")
    print(f"# {'process':8}{'state':24}{'KILL':>6}{'STOP':>6}")
    for role, state in ALL:
        k, s = (counts.get((role, state), sig) for sig in SIGNALS)
        print(f"# {role:8}{state:24}{k:6}{s:6}")
        for sig in SIGNALS:
            words = saw[role, state, sig.name].most_common()
            print(f"#{'':10}{sig.name[3:]}: " + "; ".join(
                f"{n} {word}" for word, n in words))
    for what, seconds in sorted(slowest.items()):
        print(f"# slowest, {what}: {seconds:.3f} s")
    print(f"# shots and tries of each worker: {ends}")
    for role, state in ALL:
        k, s = (counts.get((role, state), sig) for sig in SIGNALS)
        ok(k >= KILLS and s >= KILLS, f"{role}, {state}: {k} SIGKILL, {s} "
           f"SIGSTOP")
    for what in ("left after 2 s", "mounts left", "files left", "locks left",
                 "left after some shots", "left at the end", "wrong outcome", "no result",
                 "no result in time", "past its limit of time",
                 "the next run fails", "the next run hangs",
                 "a run that was not shot at",
                 "a run that was not shot at hangs"):
        ok(bad.pop(what, 0) == 0, f"none: {what}")
    ok(not bad and all(s in (0, 1) for s in statuses) and
       len(ends) == WORKERS, f"the workers ended well: {statuses}")
    after = libleft.Look(uids=before.uids).since(before)
    for what in after:
        print("#", what)
    ok(not after, "nothing is left outside of the worlds")
    print(f"1..{n}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
