"""Catches a process of a run in one of its states, sends it a signal, and
looks at what comes of it: of the run, of what it had, and of the next one.

A process is stopped before it is looked at, so that what it does is known at
the moment of the signal; or ("unfrozen") it gets the signal at once after a
look.  Hunters work in worlds of their own (libworld.py), several at once, and
tell hunt() by lines on a pipe.
"""

import collections
import os
import random
import signal
import subprocess
import time

import libleft
import libworld
from libworld import Run, alive, freeze, kill

PENDING = 24            # runs that a stopped process holds up, at once
SLOW = int(os.environ.get("BL_SLOW", "1"))     # an emulated processor
GONE_S = 2 * SLOW       # for all that a run had to be gone
BOUND_S = 40 * SLOW     # for the result, whoever is stopped
LIMIT = str(2 * SLOW), str(20 * SLOW)           # of a short run, and others

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
# States that are over too soon to be met by chance.
NARROW = {("client", "proof"), ("init", "waiting for GO"),
          ("helper", "waiting for CELL")}
# States that a run goes through more than once: no reason to give it up.
COMES_BACK = {("init", "idle"), ("init", "spawn runs"), ("init", "reaping")}


class Shot:
    """A process that was caught, and the signal it got."""

    def __init__(self, run, role, state, pid, frozen):
        self.run, self.role, self.state = run, role, state
        self.pid, self.frozen = pid, frozen
        self.sig = None
        self.cell = None                # init, launch: of which of the cells
        self.at = None
        self.hold = None                # a stopped client: until then

    def __str__(self):
        return (f"{self.sig.name} to {self.role}, {self.state} "
                f"({self.run.load}{' of a user' if self.run.user else ''}"
                f"{'' if self.frozen else ', unfrozen'})")


class Hunter:
    """want(shot) is the subclass's: what may come of it."""

    def __init__(self, world):
        self.world = world
        self.bad = collections.Counter()
        self.saw = collections.defaultdict(collections.Counter)
        self.shots = self.tries = 0
        self.slowest = collections.Counter()
        self.pending = []
        self.random = random.Random(os.getpid())
        with open("/tmp/big", "wb") as f:
            f.write(b"\0" * (16 << 20))
        self.mounts = libleft.mounts()
        self.before = world.look()

    def complain(self, what, shot, word=""):
        self.bad[what] += 1
        if self.bad[what] <= 10:
            print(f"# {what}: {shot} {word}", flush=True)

    # --- loads ---

    def start(self, role, state, short):
        """A run that will pass through this state; short: its limits."""
        load = self.random.choice(("exec", "run"))
        if role == "judge":
            load = "run"
        elif state.startswith("get"):
            load = "exec"
        user = self.random.random() < 0.4
        if load == "run":
            return self.start_run(role, state, short, user)
        # a stopped launch child of --get would be waited for a minute
        get = role == "client" or (not short and self.random.random() < 0.5)
        as_json = self.random.random() < 0.5
        words = [self.world.client, "exec", "-t", LIMIT[not short],
                 "--put", f"{self.world.house}/payload/work.py:work.py",
                 "-e", "PATH=" + "/none:" * 700 + "/usr/bin"]
        if role in ("launch", "client", "helper"):
            words += ["--put", "/tmp/big:big"]
        if get:
            words += ["--get", "made:got"]
        if as_json:
            words.append("--json")
        run = Run(self.world, words + ["--", "python3", "work.py", "30"],
                  "exec", user, as_json)
        run.get = get
        return run

    def start_run(self, role, state, short, user):
        house = self.world.house
        env, answer = "payload/judged", "payload/work.py"
        if state != "printing" and role not in ("answer", "init", "launch") \
                and self.random.random() < 0.4:
            env = "examples/two_sum"
            answer = env + "/answers/" + self.random.choice(
                ("right_table.py", "right_sorted.py"))
        return Run(self.world, [
            self.world.client, "run", f"{house}/{env}", "--answer",
            f"{house}/{answer}", "--json",
            "-t", LIMIT[not short or role not in ("launch", "answer")],
            "--judge-timeout",
            str(SLOW * (12 if short and role != "client" else 60))],
            "run", user)

    # --- hunting ---

    def hunt(self, role, want, short, frozen, also=lambda state: False):
        """A Shot that is not fired yet, its process stopped if it is frozen;
        or None: the run was over, or past that state, before.  also: other
        states that will do."""
        run = self.start(role, want, short)
        self.tries += 1
        order = STATES[role]
        cyclic = role in ("judge", "answer", "launch") or \
            (role, want) in COMES_BACK
        pause = self.random.choice((0, 0, 1e-5, 1e-4, 5e-4))
        until = time.monotonic() + 8 * SLOW
        pick = role
        if role == "init":
            pick = self.random.choice(("init", "judge init", "answer init"))
        while time.monotonic() < until:
            run.hear()
            if run.ended is not None:
                break
            pid = run.find(pick)
            state = None if pid is None else run.state(role, pid)
            if state is None:
                continue
            here, goal = order.index(state), order.index(want)
            if here == goal and not frozen:
                return self.caught(run, role, state, pid, False)
            if here < goal - 1 and not cyclic:
                continue
            if here > goal and not cyclic:
                break
            if here != goal and self.random.random() < 0.5:
                time.sleep(pause)
                continue
            if (role, want) in NARROW:
                self.open_window(run, role, pid)
            if not freeze(pid):
                continue
            state = run.state(role, pid)
            if want == "proof":
                state = self.step(run, state)
            if state is not None and (state == want or also(state)):
                return self.caught(run, role, state, pid, True)
            kill(pid, signal.SIGCONT)
            kill(run.client, signal.SIGCONT)
            time.sleep(pause)
        kill(run.client, signal.SIGCONT)
        self.give_up(run)
        return None

    def caught(self, run, role, state, pid, frozen):
        shot = Shot(run, role, state, pid, frozen)
        if role in ("init", "launch"):
            shot.cell = run.inits.index(
                pid if role == "init" else run.tree[pid])
        return shot

    @staticmethod
    def open_window(run, role, pid):
        """Where a state lasts for some 100 us.  A helper waits for as long as
        its client sleeps; a client that sleeps until its cell is there has
        the proof before it, and its init waits for GO."""
        if not freeze(run.client):
            return
        until = time.monotonic() + 0.05
        while time.monotonic() < until:
            state = run.state(role, pid)
            if role == "helper" and state != "before HELLO":
                break
            if role != "helper" and (
                    run.state("client", run.client) != "waiting for CELL" or
                    libworld.field(run.inits[-1], "Seccomp") == "2"):
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
        """A run that got no signal but to stop and go on: it must be right."""
        if not run.wait("ended", 60 * SLOW):
            self.complain("a run that was not shot at hangs", run.load,
                          run.left())
        else:
            word = run.outcome()
            # it was slowed down by the hunt
            slow = run.ended - run.began > 1.9 * SLOW and word in (
                "fact time", "failed time", "none judge judge_timeout")
            if word != "right" and not slow:
                self.complain("a run that was not shot at", run.load,
                              f"-> {word} | {run.more()}")
            self.gone(run, run.ended, run.load)
        run.close()

    def fire(self, shot, sig):
        """A signal that stops needs no other way; others are taken when the
        process goes on."""
        shot.sig, shot.at = sig, time.monotonic()
        self.shots += 1
        if sig != signal.SIGSTOP or not shot.frozen:
            if shot.frozen and sig in STOPS:
                kill(shot.pid, signal.SIGCONT)  # it would take that back
            kill(shot.pid, sig)
            if shot.frozen and sig not in STOPS:
                kill(shot.pid, signal.SIGCONT)
        if shot.role != "client":
            kill(shot.run.client, signal.SIGCONT)

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
        self.saw[shot.role, shot.state, shot.sig.name][word] += 1
        if run.ended is not None and not self.want(shot)(word):
            self.complain("wrong outcome", shot, f"-> {word} | {run.more()}")
        if shot.role != "client" and run.ended is not None:
            stop = shot.sig == signal.SIGSTOP
            where = "result after " + ("SIGSTOP" if stop else "a signal") + \
                f" to {shot.role}"
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
        world = self.world
        if self.shots % 10 == 0:
            run = self.start_run("init", "", False, shot.run.user)
        else:
            run = Run(world, [world.client, "exec", "--", "echo", "next"],
                      "exec", shot.run.user, False)
        if not run.wait("ended", 30 * SLOW):
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
        """How many locks it may hold: one of its session and one for each
        cell, made or about to be, until helper and inits are gone."""
        run = shot.run
        run.scan()
        if run.seen_helper is not None and alive(run.seen_helper):
            return 2 + len(run.inits)
        return 1 + len(run.inits) if any(map(alive, run.inits)) else 0

    def after_end(self, shot, at_once):
        """Waits until it is through.  at_once: the signal is the end of it
        all, and not only of the process that got it."""
        run = shot.run
        if at_once:
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
        run.hear()
        if shot.role == "client" and shot.hold is None:
            shot.hold = shot.at + (2.0 + 1.5) * SLOW    # past the command's limit
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
        """Sees to the runs that a stopped process holds up."""
        for shot in list(self.pending):
            if self.after_stop(shot):
                self.pending.remove(shot)
                self.settle(shot)

    def finish(self):
        while self.pending:
            self.turn()
            time.sleep(0.01)
        self.look("left at the end")
        for where, words in self.saw.items():
            for word, n in words.items():
                print("saw", "|".join((*where, str(n), word)), flush=True)
        for what, n in self.bad.items():
            print("bad", n, what, flush=True)
        for what, seconds in self.slowest.items():
            print(f"slowest {seconds:.3f} {what}", flush=True)
        print(f"end {self.shots} {self.tries}", flush=True)


STOPS = (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
WRONGS = ("left after 2 s", "mounts left", "files left", "locks left",
          "left after some shots", "left at the end", "wrong outcome",
          "no result", "no result in time", "past its limit of time",
          "the next run fails", "the next run hangs",
          "a run that was not shot at", "a run that was not shot at hangs")


class Told:
    """What the workers said, and this test's points."""

    def __init__(self):
        self.saw = collections.defaultdict(collections.Counter)
        self.slowest, self.bad = collections.Counter(), collections.Counter()
        self.some, self.ends, self.statuses = [], [], []
        self.n = self.failed = 0

    def line(self, line):
        words = line.rstrip("\n").split(" ", 1)
        if words[0] == "saw":
            *where, number, what = words[1].split("|", 4)
            self.saw[tuple(where)][what] += int(number)
        elif words[0] == "bad":
            number, what = words[1].split(" ", 1)
            self.bad[what] += int(number)
        elif words[0] == "point":
            self.some.append(words[1].split(" ", 1))
        elif words[0] == "slowest":
            seconds, what = words[1].split(" ", 1)
            self.slowest[what] = max(self.slowest[what], float(seconds))
        elif words[0] == "end":
            self.ends.append(words[1])
        else:
            print(line, end="", flush=True)

    def ok(self, good, name):
        self.n += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.n} - {name}")

    def points(self, workers):
        for good, name in self.some:
            self.ok(good == "1", name.strip())
        for what, seconds in sorted(self.slowest.items()):
            print(f"# slowest, {what}: {seconds:.3f} s")
        print(f"# shots and tries of each worker: {self.ends}")
        for what in WRONGS:
            self.ok(self.bad.pop(what, 0) == 0, f"none: {what}")
        self.ok(not self.bad and self.statuses == [0] * workers and
                len(self.ends) == workers,
                f"the workers ended well: {self.statuses}")


def why_not(build):
    """Why there can be no hunt here, or None."""
    if os.getuid() != 0:
        return "needs root"
    if os.path.basename(os.path.realpath(build)) in ("san", "cov"):
        return "looks at a release build"
    for name in ("bailiff", "bailiff-helper", "bailiff-rules"):
        if not os.access(f"{build}/{name}", os.X_OK):
            return f"{build} has no {name}"
    done = subprocess.run(
        [f"{build}/bailiff", "exec", "--", "true"], check=False,
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env={"PATH": os.environ["PATH"],
             "BAILIFF_HELPER": f"{build}/bailiff-helper"})
    return None if done.returncode == 0 else "no cells here: " + \
        done.stderr.decode("utf-8", "replace").split("\n")[0]


def point(good, name, why=""):
    print(f"point {int(bool(good))} {name} {'' if good else why}", flush=True)


def control(good, name, why=""):
    point(good, "control: " + name, why)


def hunt(build, work, workers, first):
    """Told by `workers` of work(world, number), after first + number worlds
    that other tests have."""
    told = Told()
    reader, writer = os.pipe()

    def inside(number):
        def job(world):
            os.dup2(writer, 1)
            # so that what stays for good is there before anybody looks
            subprocess.run([world.client, "exec", "--", "true"], check=True,
                           env=world.env(False))
            work(world, number)
            return 0
        return job
    pids = [libworld.enter(build, first + i, inside(i))
            for i in range(workers)]
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8", errors="replace") as f:
        for line in f:
            told.line(line)
    told.statuses = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                     for pid in pids]
    return told
