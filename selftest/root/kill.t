#!/usr/bin/python3
"""Whatever dies or stops, nothing is left, and no score comes of it.

Client, helper, cell init, launch child, judge and answer are caught in each
of their states, by their place in the process tree and by what /proc says of
them, and are killed or stopped there.  A process is stopped before it is
looked at, so that its state is known at the moment of the signal; every third
SIGKILL comes without that, to whatever was seen a moment before.

KILLS=20 of each signal in each state; KILL_SECONDS=600 for all of them.
"""

import mmap
import os
import signal
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import libleft                                              # noqa: E402
import libhunt                                              # noqa: E402
import libworld                                             # noqa: E402
from libhunt import GONE_S, STATES, Shot, control           # noqa: E402
from libworld import Run                                    # noqa: E402

KILLS = int(os.environ.get("KILLS", "20"))
SECONDS = int(os.environ.get("KILL_SECONDS", "600"))
BUILD = os.environ.get("BUILD", "build/release")
WORKERS = 2
SIGNALS = (signal.SIGKILL, signal.SIGSTOP)
ALL = [(role, state) for role in STATES for state in STATES[role]]


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
        # it slept through the command's limit: that held, or was not needed
        return lambda w: w == "right" or (
            w == "fact time" and run.load == "exec") or (
                run.load == "run" and is_ours(w))
    if role == "helper":
        return lambda w: is_ours(w) or (w == "right" and (
            late or state in ("idle with cells", "ending"))) or \
            (w.startswith("none judge") and not killed)
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
            (w.startswith("none judge") and (
                late or not killed or state == "before exec")) or \
            (w == "none setup judge_time_short" and not killed)
    if role == "judge":
        return lambda w: w.startswith("none judge") or (w == "right" and late)
    if run.load == "run":
        fact = "failed signal 9" if killed else "failed time"
        return lambda w: w == fact or (w == "right" and late)
    # it is told that what it should have left to be copied is not there
    return lambda w: w == ("fact signal 9" if killed else "fact time") or \
        (w == "right" and late) or (w == "125 get_missing" and run.get)


class Worker(libhunt.Hunter):
    def __init__(self, world, counts):
        super().__init__(world)
        self.counts = counts

    def want(self, shot):
        return want_of(shot)

    def needed(self, where, sig):
        return self.counts.get(where, sig) < KILLS

    def pick(self):
        """Something that is wanted; mostly a stop, for they take long."""
        order = [signal.SIGSTOP, signal.SIGKILL]
        if self.random.random() < 0.3:
            order.reverse()
        for sig in order:
            if sig == signal.SIGSTOP and \
                    len(self.pending) >= libhunt.PENDING:
                continue
            need = [w for w in ALL if self.needed(w, sig)]
            if need:
                return self.random.choice(need), sig
        return None

    def round(self, role, state, sig):
        stop = sig == signal.SIGSTOP
        # what is found on the way counts too, if it is still needed
        shot = self.hunt(
            role, state, stop, stop or self.random.random() < 0.67,
            lambda s: not stop and self.needed((role, s), sig))
        if shot is None:
            return
        self.counts.add((role, shot.state), sig)
        self.fire(shot, sig)
        if stop:
            self.pending.append(shot)
        else:
            self.after_end(shot, role in ("client", "helper", "init"))

    def work(self, until):
        while time.monotonic() < until:
            self.turn()
            what = self.pick()
            if what is not None:
                self.round(*what[0], what[1])
            elif self.pending:
                time.sleep(0.01)
            else:
                break
        self.finish()


def controls(world):
    """What is left on purpose is found; what is not, is not."""
    def found(kind, make, undo):
        before = world.look()
        thing = make()
        seen = [w for w in world.look().since(before) if w.startswith(kind)]
        undo(thing)
        again = world.look().since(before)
        control(seen and not again, f"{kind} is found", again)

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
    control(not run.wait("empty", GONE_S) and
            any("sleep" in w for w in run.left()),
            "a client that leaves a process is found")
    run.close()
    never = ("failed signal 9", "failed ", "right", "odd: x")
    for role in ("helper", "init", "judge"):
        for load in ("exec", "run"):
            fake = type("Fake", (), {"load": load, "user": False,
                                     "get": False, "json": True})
            shot = Shot(fake, role, STATES[role][0], 0, True)
            shot.sig = signal.SIGKILL
            control(not any(map(want_of(shot), never)),
                    f"no score of a killed {role} passes, {load}")


def main():
    why = libhunt.why_not(BUILD)
    if why is not None:
        print(f"1..0 # SKIP {why}")
        return 0
    counts = Counts()
    before = libleft.Look(uids=libworld.uids_of(0, WORKERS))
    until = time.monotonic() + SECONDS

    def work(world, number):
        if number == 0:
            controls(world)
        Worker(world, counts).work(until)
    told = libhunt.hunt(BUILD, work, WORKERS, 0)
    print(f"# {'process':8}{'state':24}{'KILL':>6}{'STOP':>6}")
    for role, state in ALL:
        k, s = (counts.get((role, state), sig) for sig in SIGNALS)
        print(f"# {role:8}{state:24}{k:6}{s:6}")
        for sig in SIGNALS:
            words = told.saw[role, state, sig.name].most_common()
            print(f"#{'':10}{sig.name[3:]}: " + "; ".join(
                f"{n} {word}" for word, n in words))
    for role, state in ALL:
        k, s = (counts.get((role, state), sig) for sig in SIGNALS)
        told.ok(k >= KILLS and s >= KILLS,
                f"{role}, {state}: {k} SIGKILL, {s} SIGSTOP")
    told.ok(len(told.some) >= 20, f"{len(told.some)} controls")
    told.points(WORKERS)
    after = libleft.Look(uids=before.uids).since(before)
    for what in after:
        print("#", what)
    told.ok(not after, "nothing is left outside of the worlds")
    print(f"1..{told.n}")
    return 1 if told.failed else 0


if __name__ == "__main__":
    sys.exit(main())
