"""Injected failures, judged: inject.py TOOL CLIENT HELPER UID GID WORK TABLE

Traces runs of the client, compares their calls with the table, then lets each
call fail in turn. Prints TAP without numbers and without a plan.
"""

import collections
import concurrent.futures
import errno
import itertools
import json
import os
import re
import subprocess
import sys

TOOL, CLIENT, HELPER, UID, GID, WORK, TABLE = sys.argv[1:]
SLOW = float(os.environ.get("BL_SLOW") or 1)
ALL = os.environ.get("INJECT") == "all"
LIMIT = 15 * SLOW
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
            assert row.why.strip() or (row.errnos and not row.on), row.call
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
        try:
            with open(self.got, encoding="utf-8") as f:
                self.text = f.read()
            os.unlink(self.got)
        except FileNotFoundError:
            self.text = None
        for end in "out", "err", "fact":
            os.unlink(f"{base}.{end}")

    def walls(self):
        """All that was seen of the cells, without what is each run's own."""
        d = self.object
        seen = d["stdout"] + str(self.text) if self.kind == "exec" else \
            d["details"] + str([a["exit_code"] for a in d["answers"]])
        seen = re.sub(r"\b(%s)\b" % "|".join(
            set(re.findall(r"^Uid:\t(\d+)", seen, re.M)) or "-"),
            "SLOT", seen)
        # of a mount, the kernel tells the number outside of a user namespace
        seen = re.sub(r"uid=\d+,gid=\d+", "uid=SLOT,gid=SLOT", seen)
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
        if self.walls() == base.walls():
            return "same"
        a, b = base.walls().split("\n"), self.walls().split("\n")
        return "went on, and differs: " + "; ".join(
            [f"-{x[:160]}" for x in a if x not in b][:6] +
            [f"+{x[:160]}" for x in b if x not in a][:6])

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
        if self.status == 3 and d["verdict"] == "none" and \
                d["failure_kind"] in ("infrastructure", "setup") and \
                d["failure_reason"] and d["failure_detail"] and \
                d["mask_sample"] is True and not {"score", "passed"} & set(d):
            return "stopped"
        return f"status {self.status}, {json.dumps(d)[:1500]}"


COMMANDS = {
    "exec": ["exec", "--json", "--put", f"{WORK}/walls.sh:walls", "--get",
             "walls:@GOT", "--ro-bind", f"{WORK}/open:/srv/x", "--tmpfs",
             "/srv/y:1m", "--", "sh", "walls"],
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
    """The points of one kind of run that are to be tried, of how many."""
    picked, count = [], 0
    for (part, call), where in sorted(found.items()):
        names = rows[call].errnos
        count += len(where) * len(names)
        some = [where[0], where[len(where) // 2], where[-1]]
        for i, (who, n) in enumerate(where if ALL else
                                     sorted(set(some), key=some.index)):
            # default: all errnos at the first place, few at the others; a run
            # has all calls of an exec and some more, so it is tried with few
            few = names if ALL or (kind == "exec" and i == 0) else \
                names[(i + len(call)) % 3::max(3, (len(names) + 1) // 2)]
            picked += [Point(kind, part, call, who, n, e) for e in few]
    return picked, count


def attempt(p):
    no = getattr(errno, p.errno)
    for _ in range(3):
        r = Run(p.kind, COMMANDS[p.kind], f"{p.who}:{p.call}:{p.n}:{no}")
        if r.hits == 1:
            break
    return r


def main():
    rows = table(TABLE)
    traces, base = {}, {}
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
    say(every <= set(rows), "every call of the trace is in the table",
        sorted(every - set(rows)))
    say(set(rows) <= every, "every call of the table is in the trace",
        sorted(set(rows) - every))
    rows = {c: r for c, r in rows.items() if c in every}
    for c in every - set(rows):
        rows[c] = Row(f"{c}\tEPERM\t-\t")

    points, count = [], 0
    for kind in COMMANDS:
        some, n = chosen(rows, kind, places(traces[kind]))
        points += some
        count += n
    print(f"# table: {len(rows)} calls, "
          f"{sum(len(r.errnos) for r in rows.values())} pairs of a call and "
          f"an errno; {', '.join(f'{p}: {len(made[p])} calls' for p in PARTS)}")
    print(f"# {len(points)} of {count} combinations of call, place and errno "
          "are tried" + ("" if ALL else " (INJECT=all: all)"))
    sys.stdout.flush()
    groups = collections.OrderedDict()
    with concurrent.futures.ThreadPoolExecutor(
            int(os.environ.get("INJECT_JOBS") or 4)) as pool:
        for p, r in zip(points, pool.map(attempt, points)):
            key = p.kind, p.part, p.call
            groups.setdefault(key, []).append((p, r.judge(base[p.kind]), r))
            if points[-1] == p or key != points[points.index(p) + 1][:3]:
                report(rows, key, groups[key])
    whole = [g for group in groups.values() for g in group]
    ends = collections.Counter(
        end if end in ("same", "stopped") else "wrong" for _, end, _ in whole)
    print("# " + ", ".join(f"{k}: {v}" for k, v in sorted(ends.items())))
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


def report(rows, key, group):
    kind, part, call = key
    bad, count = [], collections.Counter()
    for p, end, r in group:
        count[end if end in ("same", "stopped") else "wrong"] += 1
        name = f"{p.who} {call} {p.n} {p.errno}: "
        if r.hits != 1:
            bad.append(name + f"the call came {r.hits} times")
        if end == "same" and r.hits == 1 and \
                not rows[call].may_go_on(part, p.errno):
            bad.append(name + "went on, which the table does not know of")
        elif end not in ("same", "stopped"):
            bad.append(name + end)
    say(not bad, f"{kind}: {part} {call}: " +
        ", ".join(f"{k} {v}" for k, v in sorted(count.items())), bad)


main()
