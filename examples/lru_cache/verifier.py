#!/usr/bin/env python3
"""Judges a class with a state, through bailiff.load.

The answer's objects live in the answer's cell, and each call to them has a
time limit.
"""

import json
import sys
from collections import OrderedDict

try:
    import bailiff
except ImportError:
    print("this verifier needs bailiff", file=sys.stderr)
    sys.exit(2)

LIMIT = 2.0  # seconds, for each call

# A case: the capacity, then calls. A call with one word is a get.
CASES = {
    "one": (1, [("a",), ("a", 1), ("a",), ("b", 2), ("a",), ("b",)]),
    "order": (2, [(1, 1), (2, 2), (1,), (3, 3), (2,), (4, 4), (1,), (3,),
                  (4,)]),
    "again": (2, [("x", 1), ("y", 2), ("x", 3), ("z", 4), ("x",), ("y",),
                  ("z",)]),
    "values": (3, [("n", 0), ("t", "text"), ("l", [1, [2]]), ("n",), ("t",),
                   ("l",), ("none",)]),
    "many": (5, [(n * n % 11, n) if n % 3 else (n % 11,)
                 for n in range(40)]),
}


class Model:
    def __init__(self, capacity):
        self.capacity = capacity
        self.pairs = OrderedDict()

    def get(self, key):
        if key in self.pairs:
            self.pairs.move_to_end(key)
        return self.pairs.get(key)

    def put(self, key, value):
        self.pairs[key] = value
        self.pairs.move_to_end(key)
        if len(self.pairs) > self.capacity:
            self.pairs.popitem(last=False)


def call(cache, words):
    return cache.get(*words) if len(words) == 1 else cache.put(*words)


def is_same(a, b):
    return type(a) is type(b) and bool(a == b)


def check(solution, capacity, calls):
    model, cache = Model(capacity), solution.LRUCache(capacity)
    return all(is_same(call(cache, words), call(model, words))
               for words in calls)


def check_two(solution):
    """Two caches don't share what they hold."""
    one, two = solution.LRUCache(2), solution.LRUCache(2)
    one.put("k", 1)
    two.put("k", 2)
    return (is_same(one.get("k"), 1) and is_same(two.get("k"), 2)
            and one.get("other") is None)


def main():
    checks = [(name, check, case) for name, case in CASES.items()]
    checks.append(("two", check_two, ()))
    cases = []
    details = None
    try:
        solution = bailiff.load(sys.argv[1], timeout=LIMIT)
    except Exception as e:
        solution = None
        details = f"can't be loaded: {str(e)[:200]}"
    for name, function, args in checks:
        try:
            good, error = bool(function(solution, *args)), None
        except Exception as e:
            good, error = False, str(e)[:200]
        cases.append({"id": name, "passed": good, "error": error})
    right = sum(case["passed"] for case in cases)
    passed = bool(cases) and right == len(cases)
    print(json.dumps({
        "schema_version": "1.0",
        "score": right / len(cases),
        "passed": passed,
        "details": details or f"{right} of {len(cases)} cases are right",
        "cases": cases,
    }))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
