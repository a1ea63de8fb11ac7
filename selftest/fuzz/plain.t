#!/usr/bin/python3
"""Messages of an answer's that are not what they should be: whatever comes, a
judge gets data or an AnswerError, soon, and never another exception.

Each input is a sound reply, changed: its JSON by structure, its bytes by
chance. FUZZ_SECONDS, and a fixed seed for the first half of the time.
"""

import json
import os
import random
import resource
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "client", "py"))
import bailiff  # noqa: E402
import bailiff_plain as plain  # noqa: E402

SECONDS = float(os.environ.get("FUZZ_SECONDS", "5"))
SLOW = 2.0
if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)       # as runner.py has it
resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30))

GROUP = {"k": "c", "name": "C", "qualname": "C", "doc": None, "path": ["C"],
         "own": {"get": {"k": "f", "name": "get", "qualname": "C.get",
                         "doc": "d", "sig": [["self", 1, False, None]],
                         "line": 3}, "p": {"k": "p"}, "__len__": {"k": "f"}},
         "bases": [["x", "ValueError"]], "exc": False}
SEEDS = [
    {"n": 1, "v": 5, "t": []},
    {"n": 1, "v": ["@", 2], "t": [[2, ["l", [1, ["@", 3], None]]],
                                  [3, ["d", "a", ["@", 4], 2, True]],
                                  [4, ["t", [["f", "nan"], ["i", "0xff"]]]]]},
    {"n": 1, "v": ["@", 9], "t": [[9, ["o", ["h", 0], "val", 1, "next",
                                       ["@", 10]]],
                                  [10, ["o", "Node", "val", 2]],
                                  [0, ["l", [["@", 9]]]]],
     "new": {"0": GROUP}},
    {"n": 1, "v": ["h", 1], "t": [],
     "new": {"0": GROUP, "1": {"k": "o", "cls": ["h", 0]},
             "2": {"k": "f", "name": "f", "qualname": "f", "doc": "x",
                   "sig": [["a", 1, True, "1"]], "line": 1, "path": ["f"]}}},
    {"n": 1, "v": ["h", 3], "t": [],
     "new": {"3": {"k": "o", "type": "generator", "sp": ["__next__"]}}},
    {"n": 1, "t": [], "e": {"type": "ValueError", "text": "no", "trace": "t",
                            "args": ["no", 1], "cls": ["h", 0],
                            "bases": ["ValueError", "Exception"]},
     "new": {"0": dict(GROUP, exc=True)}},
    {"n": 1, "v": ["@", 5], "t": [[5, ["s", [1, ["@", 6]]]],
                                  [6, ["z", ["a"]]], [7, ["q", [1]]],
                                  [8, ["y", "YWI="]],
                                  [11, ["n", "P", ["x"], [1]]]]},
    {"n": 1, "v": ["r", 0, 5, 1], "t": [[1, ["d", ["D", "1.5"],
                                             ["F", 1, 3]]]]},
    {"n": 1, "v": ["c", 1.0, ["f", "inf"]], "t": [], "out": "text"},
    {"n": 1, "plain": "no form", "t": []},
]
ATOMS = [None, True, 0, -1, 1, 2, 5, 9, 10, 1 << 61, (1 << 61) - 1, 1e308, "",
         "a", "__class__", "_bailiff", "\ud800", "x" * 70, "9" * 5000, [], {},
         ["@", 0], ["@", 2], ["@", -1], ["@", []], ["@", "a"], ["h", 0],
         ["h", 7], ["h", True], ["k", 0], ["x", "eval"], ["x", "int"],
         ["i", "0x" + "f" * 70000], ["i", "zz"], ["f", "1"], ["b", "?"],
         ["r", 0, 1 << 70, 1], ["r", 0, 1, 0], ["D", "sNaN"],
         ["D", "1e999999"], ["F", 1, 0], ["c", "a", "b"], ["e"], ["J", "x"],
         ["a", ["f"]], [[[[]]]], {"k": "c"}, "0", "1", "c", "f", "o", "l"]


class Judges:
    """A class that a judge has, for objects of it."""


def change(rng, v, depth=0):
    """v with something else in it, somewhere."""
    if rng.random() < 0.15 or depth > 6:
        return rng.choice(ATOMS)
    if isinstance(v, dict) and v:
        v = dict(v)
        key = rng.choice(list(v))
        if rng.random() < 0.2:
            v[str(rng.choice(ATOMS))[:80]] = v.pop(key)
        else:
            v[key] = change(rng, v[key], depth + 1)
        return v
    if isinstance(v, list) and v:
        v = list(v)
        at = rng.randrange(len(v))
        how = rng.random()
        if how < 0.1:
            del v[at]
        elif how < 0.2:
            v.insert(at, rng.choice(v))
        elif how < 0.25:
            v = v * rng.choice((2, 3, 40))
        else:
            v[at] = change(rng, v[at], depth + 1)
        return v
    return rng.choice(ATOMS)


def text_of(rng):
    m = rng.choice(SEEDS)
    for _ in range(rng.choice((0, 1, 1, 2, 3, 6))):
        m = change(rng, m)
    text = json.dumps(m).encode()
    if rng.random() < 0.2 and text:
        text = bytearray(text)
        for _ in range(rng.randrange(1, 8)):
            text[rng.randrange(len(text))] = rng.randrange(256)
        if rng.random() < 0.3:
            del text[rng.randrange(len(text)):]
    return bytes(text)


def fresh():
    answer = bailiff._Answer({"op": "load", "path": "solution.py",
                              "name": "solution"}, 5.0)
    answer.generation = 1
    answer.judge_classes["Node"] = Judges
    answer.callbacks[0] = len
    return answer


def look(v, depth=0):
    """What a judge may do with what it got."""
    repr(v)
    if isinstance(v, (list, tuple)) and depth < 3:
        for x in v[:5]:
            look(x, depth + 1)
    v == [1]
    hash(type(v))


def one(text):
    answer = fresh()
    given = [1, {"a": 2}]
    enc = plain.Encoder(answer.other)
    enc.atom(given)
    enc.table()
    answer.stop = dict
    sent = {"op": "call"}
    answer.send = lambda m: None
    answer.receive = lambda: plain.unpack(text)
    answer.number = 0
    # a stand-in that is looked at asks again, and gets the same
    answer.process, answer.pid = True, os.getpid()
    answer.until = time.monotonic() + 5
    try:
        look(answer.ask(sent, [("o", given)]))
    except bailiff.AnswerError as e:
        str(e)
        repr(e.args)
    except TypeError as e:
        if "unhashable" not in str(e):
            raise


def main():
    start, runs, slow = time.monotonic(), 0, 0.0
    print("TAP version 13")
    for m in SEEDS:
        one(json.dumps(m).encode())
    print(f"ok 1 - the {len(SEEDS)} sound ones are taken")
    rng = random.Random(1)
    while time.monotonic() - start < SECONDS:
        if time.monotonic() - start > SECONDS / 2 and runs % 2:
            rng = random.Random(os.urandom(8))
        text = text_of(rng)
        before = time.monotonic()
        try:
            one(text)
        except BaseException as e:
            print(f"not ok 2 - {type(e).__name__}: {str(e)[:200]}")
            print("# input: " + text.decode("utf-8", "replace")[:3000])
            print("1..2")
            raise
        took = time.monotonic() - before
        slow = max(slow, took)
        if took > SLOW:
            print(f"not ok 2 - {took:.1f} s")
            print("# input: " + text.decode("utf-8", "replace")[:3000])
            print("1..2")
            return 1
        runs += 1
    print(f"ok 2 - {runs} runs in {SECONDS:g} s, the slowest "
          f"{slow * 1000:.0f} ms")
    print("1..2")
    return 0


sys.exit(main())
