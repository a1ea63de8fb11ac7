#!/usr/bin/env python3
"""Judges functions that it takes from what runpy.run_path returns."""

import json
import runpy
import sys

CASES = [
    ("histogram", (b"",), {}, {}),
    ("histogram", (b"abca",), {}, {97: 2, 98: 1, 99: 1}),
    ("histogram", (b"\x00\xff\x00\n",), {}, {0: 2, 255: 1, 10: 1}),
    ("histogram", (bytes(range(256)) * 40,), {}, dict.fromkeys(range(256),
                                                               40)),
    ("edges", (set(),), {}, set()),
    ("edges", ({"x"},), {}, set()),
    ("edges", ({"b", "a", "c"},), {}, {("a", "b"), ("a", "c"), ("b", "c")}),
    ("paint", ({(0, 0), (2, -1)},), {}, {(0, 0): (0, 0, 0),
                                         (2, -1): (0, 0, 0)}),
    ("paint", (set(), (1, 2, 3)), {}, {}),
    ("paint", ({(1, 1)},), {"color": (255, 0, 9)}, {(1, 1): (255, 0, 9)}),
]


def main():
    try:
        names = runpy.run_path(sys.argv[1])
        functions = {name: names[name]
                     for name in ("histogram", "edges", "paint")}
    except Exception as e:
        print(json.dumps({"score": 0.0, "passed": False,
                          "details": f"can't be run: {str(e)[:200]}"}))
        return 1
    cases = []
    for name, args, kwargs, expected in CASES:
        try:
            result = functions[name](*args, **kwargs)
            good = type(result) is type(expected) and bool(result == expected)
            error = None
        except Exception as e:
            good, error = False, str(e)[:200]
        cases.append({"id": f"{name}-{len(cases)}", "passed": good,
                      "error": error})
    right = sum(case["passed"] for case in cases)
    passed = bool(cases) and right == len(cases)
    print(json.dumps({
        "score": right / len(cases) if cases else 0.0,
        "passed": passed,
        "details": f"{right} of {len(cases)} cases are right",
        "cases": cases,
    }))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
