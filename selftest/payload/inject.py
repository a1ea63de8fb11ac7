"""Injected failures, judged: inject.py TOOL CLIENT HELPER UID GID WORK TABLE

Traces runs of the client, compares their calls with the table, then lets each
call fail in turn. Prints TAP without numbers and without a plan.

By environment: INJECT=all tries every combination (an hour and more, which
run-test must allow: TEST_SECONDS=9000); INJECT_ONLY=exec or run tries one kind;
INJECT_JOBS=N has so many at a time; INJECT_LOG=FILE gets each result, as a line
of JSON.
"""

import collections
import concurrent.futures
import errno
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys

TOOL, CLIENT, HELPER, UID, GID, WORK, TABLE = sys.argv[1:]
SLOW = float(os.environ.get("BL_SLOW") or 1)
ALL = os.environ.get("INJECT") == "all"
TIME = 5 * SLOW             # of a command in a cell
LIMIT = TIME + 20 * SLOW    # the client waits for a silent cell 15 s more
# Lines of walls.sh: the mount of a shown file, and its name in a list.
SHOWN = re.compile(r"\S+ /etc/\S+ ro,nosuid,nodev\S* .*|[\w.-]+")
PARTS = "helper", "init", "launch"
number = itertools.count()


# --- the table -------------------------------------------------------------

class Row:
    """One line: call, errnos, where it may go on, why."""

    def __init__(self, line):
        self.call, errnos, on, self.why = line.rstrip("\n").split("\t")
        self.errnos = [] if errnos == "-" else errnos.split(" ")
        for name in self.errnos:
            getattr(errno, name)
        # part -> the errnos with which it may go on, or None: with each
        self.on = {}
        for word in [] if on == "-" else on.split(" "):
            part, _, names = word.partition(":")
            assert part in PARTS, word
            self.on[part] = names.split(",") if names else None
            assert set(names.split(",") if names else []) <= set(self.errnos)

    def may_go_on(self, part, name):
        if part not in self.on:
            return False
        return self.on[part] is None or name in self.on[part]


def table(path):
    rows = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith("#") or not line.strip():
                continue
            row = Row(line)
            assert row.call not in rows, "twice: " + row.call
            assert (row.why == "-") == bool(row.errnos and not row.on), row.call
            rows[row.call] = row
    return rows


# --- runs ------------------------------------------------------------------

class Run:
    """One run of a command under the tracer, and what it left behind."""

    def __init__(self, kind, argv, inject=None, trace=False):
        base = f"{WORK}/runs/{next(number)}"
        self.got = base + ".got"
        argv = [a.replace("@GOT", self.got) for a in argv]
        opts = ["-t"] if trace else []
        if inject:
            opts += ["-i", inject]
        with open(base + ".out", "w+b") as out, \
                open(base + ".err", "w+b") as err:
            subprocess.run(
                [TOOL, "-u", UID, "-g", GID, "-x", HELPER, "-o",
                 base + ".fact", "-l", str(LIMIT), *opts, "--", CLIENT,
                 *argv], check=False, stdin=subprocess.DEVNULL,
                stdout=out, stderr=err, timeout=LIMIT * 4, env={
                    "PATH": "/usr/bin:/bin", "HOME": "/",
                    "XDG_CONFIG_HOME": "/none", "BAILIFF_HELPER": HELPER,
                    "TMPDIR": WORK + "/tmp"})
            out.seek(0)
            err.seek(0)
            self.out, self.err = out.read(), err.read().decode(
                "utf-8", "replace")
        self.kind, self.status, self.hits, self.left = kind, None, 0, []
        self.ms = 0
        self.calls = collections.Counter()
        with open(base + ".fact", encoding="ascii") as f:
            for line in f:
                word = line.split()
                if word[0] == "call":
                    self.calls[word[1], word[2]] += 1
                elif word[0] == "end":
                    self.status = int(word[1])
                elif word[0] == "ms":
                    self.ms = int(word[1])
                elif word[0] == "hits":
                    self.hits = int(word[1])
                else:
                    self.left.append(" ".join(word[:2]))
        try:
            self.object = json.loads(self.out)
        except ValueError:
            self.object = None
        self.text = ""
        for folder, _, files in os.walk(self.got):
            for name in files:
                with open(f"{folder}/{name}", encoding="utf-8") as f:
                    self.text += f"{name}: {f.read()}"
        shutil.rmtree(self.got, ignore_errors=True)
        for end in "out", "err", "fact":
            os.unlink(f"{base}.{end}")

    def walls(self):
        """All that was seen of the cells, without what is each run's own."""
        d = self.object
        seen = d["stdout"] + self.text if self.kind == "exec" else \
            d["details"] + str([a["exit_code"] for a in d["answers"]])
        seen = re.sub(r"\b(%s)\b" % "|".join(
            set(re.findall(r"^Uid:\t(\d+)", seen, re.M)) or "-"),
            "SLOT", seen)
        # of a mount, the kernel tells the number outside of a user namespace
        seen = re.sub(r"uid=\d+,gid=\d+", "uid=SLOT,gid=SLOT", seen)
        # where a node can't be made the host's own serves, and is as harmless
        seen = re.sub(r"^/(null|zero|full|random|urandom|tty) /dev/\1 "
                      r"r[ow],nosuid,noexec\S* .*\n", "", seen, flags=re.M)
        return seen + json.dumps([d["protections"], d["separation"], d["way"],
                                  d["mode"], d["warnings"]])

    def judge(self, base):
        """"stopped", "same", or what else it was."""
        d = self.object
        if self.left:
            return ", ".join(self.left)
        if not isinstance(d, dict):
            return f"status {self.status}, no object: {self.err[:200]}"
        try:
            if self.kind == "exec":
                return self.judge_exec(d, base)
            return self.judge_run(d, base)
        except (KeyError, TypeError) as e:
            return f"status {self.status}, no {e}: {str(d)[:300]}"

    def same(self, base):
        a, b = base.walls().split("\n"), self.walls().split("\n")
        # a file of the host that is not shown is no wall less
        more = collections.Counter(b) - collections.Counter(a)
        less = collections.Counter(a) - collections.Counter(b)
        if not more and all(SHOWN.fullmatch(x) for x in less):
            return "same"
        return "went on, and differs: " + "; ".join(
            [f"-{x[:160]}" for x in less][:6] +
            [f"+{x[:160]}" for x in more][:6])

    def judge_exec(self, d, base):
        e = d.get("error")
        if self.status == 0 and e is None:
            return self.same(base)
        if self.status in (125, 126, 127) and e and all(
                e[k] for k in ("code", "step", "message", "kind")):
            if self.status == 125 or e["step"] == "spawn/exec":
                return "stopped"
        return f"status {self.status}, {json.dumps(d)[:1500]}"

    def judge_run(self, d, base):
        if self.status == 0 and d["verdict"] == "passed":
            return self.same(base)
        if self.status == 3 and d["verdict"] == "none" and (
                d["failure_kind"] in ("infrastructure", "setup") or
                d["failure_reason"] == "judge_not_started") and \
                d["failure_reason"] and d["failure_detail"] and \
                d["mask_sample"] is True and not {"score", "passed"} & set(d):
            return "stopped"
        return f"status {self.status}, {json.dumps(d)[:1500]}"


COMMANDS = {
    "exec": ["exec", "--json", "-t", str(TIME), "--put",
             f"{WORK}/walls.sh:walls", "--get", "d:@GOT", "--ro-bind",
             f"{WORK}/open:/srv/x", "--tmpfs", "/srv/y:1m", "--", "sh", "-c", "mkdir d && cp walls d; "
             "sleep 300 >/dev/null 2>&1 & . ./walls"],
    "run": ["run", "--json", f"{WORK}/env", "--answer", f"{WORK}/walls.sh"],
}
Point = collections.namedtuple("Point", "kind part call who n errno")


def part_of(who):
    return re.match("[a-z]+", who)[0]


def say(good, name, notes=()):
    print("ok" if good else "not ok", "-", name)
    for note in notes:
        print("# " + note.replace("\n", " "))
    sys.stdout.flush()


def places(traces):
    """(part, call) -> [(who, n)], as often as in each of the traces."""
    found = collections.defaultdict(list)
    for key in sorted(set().union(*(t.calls for t in traces))):
        for n in range(1, min(t.calls[key] for t in traces) + 1):
            found[part_of(key[0]), key[1]].append((key[0], n))
    return found


def chosen(rows, kind, found):
    """The points of one kind of run that are to be tried, of how many.

    Unless all are: every errno at the first place of a part; half of them in
    the middle and at the last one of its first process, or at each if that has
    few, and at the last of all; and where a run may go on with some errnos, those everywhere. A run makes
    almost the same calls as an exec: it is tried with two errnos each.
    """
    picked, count = [], 0
    for (part, call), where in sorted(found.items()):
        names = rows[call].errnos
        count += len(where) * len(names)
        own = [w for w in where if w[0] == where[0][0]]
        some = [own[0], own[len(own) // 2], own[-1], where[-1]] + \
            (own if len(own) <= 6 and kind == "exec" else [])
        some = sorted(set(some), key=some.index)
        for who, n in where:
            i = some.index((who, n)) if (who, n) in some else None
            for k, name in enumerate(names):
                if ALL or i is not None and (
                        kind == "exec" and (i == 0 or k % 2 == i % 2) or
                        kind == "run" and
                        k % max(3, (len(names) + 1) // 2) ==
                        (i + len(call)) % 3) or \
                        kind == "exec" and \
                        name in (rows[call].on.get(part) or ()):
                    picked.append(Point(kind, part, call, who, n, name))
    return picked, count


def attempt(p):
    no = getattr(errno, p.errno)
    for _ in range(3):
        r = Run(p.kind, COMMANDS[p.kind], f"{p.who}:{p.call}:{p.n}:{no}")
        if r.hits == 1:
            break
    return r


def strace(argv):
    """The same run, as strace tells it: part -> names of its calls."""
    base = f"{WORK}/runs/strace"
    subprocess.run(
        ["strace", "-ff", "-qq", "--decode-pids=pidns", "-o", base, "setpriv",
         "--reuid=" + UID, "--regid=" + UID, "--groups=" + GID, "env", "-i",
         "PATH=/usr/bin:/bin", "HOME=/", "XDG_CONFIG_HOME=/none",
         "BAILIFF_HELPER=" + HELPER, CLIENT, *argv], check=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    lines = {}
    for name in os.listdir(f"{WORK}/runs"):
        if name.startswith("strace."):
            path = f"{WORK}/runs/{name}"
            with open(path, encoding="utf-8", errors="replace") as f:
                lines[int(name.split(".")[1])] = f.read().splitlines()
            os.unlink(path)

    def until_exec(pid, to=""):
        start = f'execve("{to}'
        for i, line in enumerate(lines[pid]):
            if line.startswith(start) and line.endswith(" = 0"):
                return i
        return None

    found = {p: set() for p in PARTS}

    def sort(part, pid):
        own = lines[pid][:until_exec(pid)]
        if part == "helper":
            own = lines[pid][until_exec(pid, HELPER) + 1:]
        for line in own:
            word = re.match(r"(\w+)\(", line)
            if word:
                found[part].add(word[1])
            # in the cell it has another number, which strace explains
            child = re.match(r"(?:clone3?|v?fork)\(.* = (\d+)"
                             r"(?: /\* (\d+) in strace's PID NS \*/)?$", line)
            if child and part != "launch":
                sort(PARTS[PARTS.index(part) + 1], int(child[2] or child[1]))

    for pid in lines:
        if until_exec(pid, HELPER) is not None:
            sort("helper", pid)
    return found


def compare(traces):
    name = "strace sees the same calls of an exec, part by part"
    if not shutil.which("strace"):
        say(True, name + " # SKIP no strace")
        return
    got = f"{WORK}/runs/got"
    seen = strace([a.replace("@GOT", got) for a in COMMANDS["exec"]])
    shutil.rmtree(got)
    own = {p: set() for p in PARTS}
    for t in traces:
        for who, call in t.calls:
            own[part_of(who)].add(call)
    say(seen == own, name,
        [f"{p}: {sorted(seen[p] ^ own[p])}" for p in PARTS])


def main():
    rows = table(TABLE)
    traces, base = {}, {}
    only = os.environ.get("INJECT_ONLY")
    for kind, argv in COMMANDS.items():
        traces[kind] = [Run(kind, argv, trace=True) for _ in range(3)]
        base[kind] = traces[kind][0]
        ends = [t.judge(base[kind]) for t in traces[kind]]
        say(ends == ["same"] * 3, f"control: three {kind}s look the same",
            [f"{e}: {t.out[:500]}" for e, t in zip(ends, traces[kind])
             if e != "same"])
        if ends[0] != "same":
            return
    argv = [a.replace("/srv/x", "/srv/z") for a in COMMANDS["exec"]]
    end = Run("exec", argv).judge(base["exec"])
    say("differs" in end, "control: another cell does not", [end])

    made = {part_of(who): set() for t in traces["run"] for who, _ in t.calls}
    for t in traces["exec"] + traces["run"]:
        for who, call in t.calls:
            made[part_of(who)].add(call)
    say(set(made) == set(PARTS) and all(made.values()),
        "the trace has all parts")
    every = set().union(*made.values())
    compare(traces["exec"])
    say(every <= set(rows), "every call of the trace is in the table",
        sorted(every - set(rows)))
    say(set(rows) <= every, "every call of the table is in the trace",
        sorted(set(rows) - every))
    rows = {c: r for c, r in rows.items() if c in every}
    for c in every - set(rows):
        rows[c] = Row(f"{c}\tEPERM\t-\t-")

    points, count = [], 0
    for kind in [only] if only else COMMANDS:
        some, n = chosen(rows, kind, places(traces[kind]))
        points += some
        count += n
    print(f"# table: {len(rows)} calls, "
          f"{sum(len(r.errnos) for r in rows.values())} pairs of a call and "
          f"an errno; {', '.join(f'{p}: {len(made[p])} calls' for p in PARTS)}")
    print(f"# {len(points)} of {count} combinations of call, place and errno "
          "are tried" + ("" if ALL else " (INJECT=all: all)"))
    sys.stdout.flush()
    # those of one call wait alike: mixed, so that not all of them wait at once
    mixed = random.Random(0).sample(points, len(points))
    with concurrent.futures.ThreadPoolExecutor(
            int(os.environ.get("INJECT_JOBS") or 4)) as pool:
        done = dict(zip(mixed, pool.map(attempt, mixed)))
    whole = [(p, done[p].judge(base[p.kind]), done[p]) for p in points]
    for key, group in itertools.groupby(whole, lambda w: w[0][:3]):
        report(rows, key, list(group))
    ends = collections.Counter(
        end if end in ("same", "stopped") else "wrong" for _, end, _ in whole)
    print("# " + ", ".join(f"{k}: {v}" for k, v in sorted(ends.items())) +
          f"; not reached: {sum(r.hits != 1 for _, _, r in whole)}; the "
          f"longest took {max(r.ms for _, _, r in whole)} ms")
    used = {(p.call, p.part) for p, end, _ in whole if end == "same"}
    spare = [f"{c} in {p}" for c, r in sorted(rows.items()) for p in r.on
             if (c, p) not in used]
    print("# of what may go on, never seen here: " + (", ".join(spare) or "-"))
    if os.environ.get("INJECT_LOG"):
        with open(os.environ["INJECT_LOG"], "w", encoding="utf-8") as f:
            for p, end, r in whole:
                e = r.object or {}
                e = e.get("error") or e
                json.dump([*p, end, r.ms, r.hits, e.get("code") or
                           e.get("failure_reason"), e.get("step"),
                           e.get("object"), e.get("message") or
                           e.get("failure_detail")], f)
                f.write("\n")


def is_start(d):
    """An answer could not be started, which is a fact about its command."""
    return isinstance(d, dict) and d.get("verdict") == "failed" and any(
        a["limit"] == "start" for a in d["answers"])


def report(rows, key, group):
    kind, part, call = key
    bad, count, missed = [], collections.Counter(), 0
    for p, end, r in group:
        count[end if end in ("same", "stopped") else "wrong"] += 1
        name = f"{p.who} {call} {p.n} {p.errno}: "
        missed += r.hits != 1
        if end == "same" and r.hits == 1 and \
                not rows[call].may_go_on(part, p.errno):
            bad.append(name + "went on, which the table does not know of")
        elif end not in ("same", "stopped") and not (
                rows[call].may_go_on(part, p.errno) and
                is_start(r.object)):
            bad.append(name + end)
    # how often it is polled, say, is not the same each time
    if missed == len(group):
        bad.append("the call never came again")
    say(not bad, f"{kind}: {part} {call}: " +
        ", ".join(f"{k} {v}" for k, v in sorted(count.items())) +
        (f", not reached {missed}" if missed else ""), bad)


main()
