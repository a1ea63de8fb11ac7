#!/usr/bin/python3
"""I01, the caller goes away: client, helper and judge get every signal, at
several steps of a run.  Within two seconds no process, mount, namespace,
control group, lock or file of the run is there; there is no verdict, but of a
run that the signal did not end; and the next run works.

Neighbours: client and helper end together; the helper ends while its client
sleeps, and the client while the helper does; a judge ends at the moment when
its answer is started, or ends the program that starts it, at that moment.
"""

import os
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "root"))
import libhunt                                              # noqa: E402
import libleft                                              # noqa: E402
import libworld                                             # noqa: E402
from libhunt import STATES, control, point                  # noqa: E402
from libworld import Run, alive, freeze, is_helper, kill    # noqa: E402

BUILD = os.environ.get("BUILD", "build/release")
SECONDS = int(os.environ.get("I01_SECONDS", "600"))
# those of these names alone: "KILL,TERM"
SIGNALS = [sig for sig in map(signal.Signals, range(1, 32)) if sig.name[3:] in
           os.environ.get("I01_SIGNALS", sig.name[3:]).split(",")]
# one processor, emulated, has enough with one
WORKERS, WORLD = 2 if libhunt.SLOW == 1 else 1, 2
STEPS = {
    "client": ("starting the helper", "waiting for CELL", "pumping",
               "ending"),
    "helper": ("before HELLO", "CELL set-up", "idle with cells", "ending"),
    "judge": STATES["judge"],
}
# signal(7): what a process does that does not ask for anything else
QUIET = {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH}
# STOP aside: nothing, in a process group whose members' parents are elsewhere
TTY = {signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
CANCELS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
# ignored by the client; blocked by the helper, as all that can be; by the
# judge, for Python does
IGNORED = {"client": {signal.SIGPIPE, signal.SIGXFSZ},
           "helper": {signal.Signals(n) for n in range(1, 32)} - {
               signal.SIGKILL, signal.SIGSTOP},
           "judge": {signal.SIGPIPE, signal.SIGXFSZ}}


class Hunter(libhunt.Hunter):
    def quiet(self, shot):
        """The signal does nothing to it."""
        return shot.sig in QUIET | TTY | IGNORED[shot.role]

    def want(self, shot):
        role, sig = shot.role, shot.sig
        ours = "none infrastructure" if shot.run.load == "run" else "125 "
        over = shot.state == "ending" or not shot.frozen
        if sig == signal.SIGSTOP and role == "client":
            return lambda w: w in ("right", "fact time")
        if sig == signal.SIGSTOP and role == "judge":
            return lambda w: w == "none judge judge_timeout"
        if role == "helper" and sig == signal.SIGSTOP:
            return lambda w: w.startswith(ours) or (
                w == "right" and shot.state in ("idle with cells", "ending"))
        if self.quiet(shot):
            # a Python that begins does not ignore what it will; a helper
            # may end as well, but not with a verdict
            early = role == "judge" and sig not in QUIET | TTY and \
                shot.state == "running"
            return lambda w: w == "right" or (
                early and w == "none judge judge_signal") or (
                    role == "helper" and w.startswith(ours))
        if role == "client":
            # before it asks for them, they end it like any other
            return lambda w: w in ("silent", "cut") or \
                (w == "cancelled" and sig in CANCELS) or \
                (w == "right" and over)
        if role == "helper":
            return lambda w: w.startswith(ours) or (
                w == "right" and (over or shot.state == "idle with cells"))
        return lambda w: w.startswith("none judge") or (
            w == "right" and not shot.frozen)

    def round(self, role, state, sig):
        stop = sig == signal.SIGSTOP
        shot = None
        while shot is None and time.monotonic() < self.until:
            shot = self.hunt(role, state, stop, True)
        if shot is None:
            self.complain("no time for it", f"{sig.name} to {role}, {state}")
            return
        self.fire(shot, sig)
        if stop:
            self.pending.append(shot)
        else:
            self.after_end(shot, role != "judge" and not self.quiet(shot))

    def work(self, number, until):
        self.until = until
        todo = [(role, state, sig) for sig in SIGNALS
                for role in STEPS for state in STEPS[role]]
        # the stops first, for they take long; the rest while they do
        todo.sort(key=lambda what: what[2] != signal.SIGSTOP)
        for role, state, sig in todo[number::WORKERS]:
            self.turn()
            self.round(role, state, sig)
        if number == 0:
            self.pairs()
        self.finish()


    # --- two at once ---

    def pair(self, state, how):
        """The client is caught in state, and its helper with it."""
        shot = None
        while shot is None and time.monotonic() < self.until:
            shot = self.hunt("client", state, False, True)
        if shot is None:
            self.complain("no time for it", f"{how}, {state}")
            return
        run = shot.run
        run.scan()
        helper = run.seen_helper
        self.shots += 1
        shot.sig, shot.at = signal.SIGKILL, time.monotonic()
        if how == "both":
            kill(helper, signal.SIGKILL)
            kill(run.client, signal.SIGKILL)
        elif how == "helper":
            kill(helper, signal.SIGKILL)
            self.all_but(run, run.client, shot, how)
            kill(run.client, signal.SIGCONT)
        else:
            # asleep, not on its way from giving a cell away
            for _ in range(500):
                if libleft.stat(helper)[0] == "S":
                    break
                time.sleep(0.001)
            freeze(helper)
            kill(run.client, signal.SIGKILL)
            self.all_but(run, helper, shot, how)
            kill(helper, signal.SIGCONT)
        shot.at = time.monotonic()
        self.gone(run, shot.at, f"{how} killed: client {state}")
        run.wait("ended", 1)
        word = run.outcome() if run.ended is not None else "no result"
        ours = "none infrastructure" if run.load == "run" else "125 "
        if not (word.startswith(ours) if how == "helper" else
                word in ("silent", "cut", "right")):
            self.complain("wrong outcome", f"{how} killed: client {state}",
                          f"-> {word} | {run.more()}")
        run.close()
        self.next_run(shot)

    def all_but(self, run, asleep, shot, how):
        """Only the one that sleeps is left after 2 s; its children may wait
        to be reaped."""
        until = time.monotonic() + libhunt.GONE_S
        while True:
            run.scan()
            left = [p for p in run.tree if p != asleep and alive(p)]
            if not left:
                return
            if time.monotonic() > until:
                self.complain("left after 2 s", f"{how} killed, {asleep} "
                              f"sleeps: client {shot.state}", run.left())
                return
            time.sleep(0.001)

    def pairs(self):
        for _ in range(3 if libhunt.SLOW == 1 else 1):
            for state in STATES["client"][1:]:
                self.pair(state, "both")
            for state in ("waiting for CELL", "proof", "spawned", "pumping"):
                self.pair(state, "helper")
            for state in ("spawned", "pumping", "get after the end"):
                self.pair(state, "client")


def started(world, aim, times=8):
    """Outcomes of runs whose first answer is just being started, its process
    stopped, when aim(run) does something; then it goes on."""
    words = []
    until = time.monotonic() + 60 * libhunt.SLOW
    while len(words) < times and time.monotonic() < until:
        run = Run(world, [
            world.client, "run", world.house + "/payload/judged", "--answer",
            world.house + "/payload/work.py", "--json", "-e",
            "PATH=" + "/none:" * 400 + "/usr/bin"], "run")
        hit = False
        while not hit and not run.wait("ended", 0):
            judge = run.find("judge")
            if judge is None or not run.children(judge):
                continue
            for pid in list(run.tree):
                if run.tree[pid] == run.inits[1] and alive(pid) and \
                        is_helper(pid) and freeze(pid):
                    if is_helper(pid):
                        hit = True
                        aim(run, judge)
                        time.sleep(0.02)
                    kill(pid, signal.SIGCONT)
        if run.wait("ended", 60 * libhunt.SLOW) and hit:
            words.append(run.outcome())
        run.wait("empty", 2)
        run.close()
    return words


def neighbours(world):
    words = started(world, lambda run, judge: kill(judge, signal.SIGKILL))
    point(len(words) > 3 and set(words) == {"none judge judge_signal"},
          "a judge that is killed while its answer is started: no verdict, and "
          "by the judge", words)

    def end_starter(run, judge):
        for pid in run.children(judge):
            kill(pid, signal.SIGKILL)
    words = started(world, end_starter)
    point(len(words) > 3 and all(w.startswith("failed") for w in words),
          "a judge that ends what starts its answer: its verdict counts", words)


def controls(world):
    """The signals do arrive, and do what is thought of here."""
    wrong = []
    for number in range(1, 32):
        sig = signal.Signals(number)
        child = subprocess.Popen(
            ["sleep", "600"], start_new_session=True,
            preexec_fn=lambda: [signal.signal(s, signal.SIG_DFL) for s in (
                signal.SIGPIPE, signal.SIGXFSZ)])
        while b"sleep" not in libleft.read(f"/proc/{child.pid}/cmdline")[:5]:
            time.sleep(0.001)
        kill(child.pid, sig)
        end = None
        try:
            end = child.wait(0.02 if sig in QUIET | TTY or
                             sig == signal.SIGSTOP else 5)
        except subprocess.TimeoutExpired:
            pass
        state = "T" if end is None and \
            libleft.stat(child.pid)[0] in "Tt" else end
        want = "T" if sig == signal.SIGSTOP else \
            None if sig in QUIET | TTY else -number
        if state != want:
            wrong.append((sig.name, state))
        child.kill()
        child.wait()
    control(not wrong, "each signal does to a plain process what it should",
            wrong)
    # the same attack where nobody cleans up
    run = Run(world, ["/bin/sh", "-c", "sleep 600 & wait"], "exec", False,
              False)
    while len(run.tree) < 2:
        run.scan()
    kill(run.client, signal.SIGKILL)
    left = not run.wait("empty", 2) and any("sleep" in w for w in run.left())
    control(left and run.wait("ended", 1),
            "a plain process that is killed leaves its child")
    run.close()


def main():
    why = libhunt.why_not(BUILD)
    if why is not None:
        print(f"1..0 # SKIP {why}")
        return 0
    before = libleft.Look(uids=libworld.uids_of(WORLD, WORKERS))
    until = time.monotonic() + SECONDS

    def work(world, number):
        hunter = Hunter(world)
        hunter.work(number, until)
        if number == 0:
            controls(world)
        if number == WORKERS - 1:
            neighbours(world)
    told = libhunt.hunt(BUILD, work, WORKERS, WORLD)
    for role in STEPS:
        for state in STEPS[role]:
            seen = {sig: told.saw[role, state, sig.name] for sig in SIGNALS}
            came = {}
            for sig, words in seen.items():
                for word in words:
                    came.setdefault(word, []).append(sig.name[3:])
            for word, names in sorted(came.items()):
                print(f"# {role}, {state}: {word}: {' '.join(names)}")
            told.ok(all(seen.values()), f"{role}, {state}: every signal"
                    + (f" of {len(seen)}" if len(seen) < 31 else ""))
    told.points(WORKERS)
    after = libleft.Look(uids=before.uids).since(before)
    for what in after:
        print("#", what)
    told.ok(not after, "nothing is left outside of the worlds")
    print(f"1..{told.n}")
    return 1 if told.failed else 0


if __name__ == "__main__":
    sys.exit(main())
