#!/usr/bin/env python3
"""Judges functions on floats of every kind and on very large integers."""

import importlib.util
import json
import math
import sys

INF, NAN = math.inf, math.nan
TINY = 5e-324

CASES = [
    ("mean_known", [[1.0, NAN, 2.0]], 1.5),
    ("mean_known", [[]], NAN),
    ("mean_known", [[NAN, NAN]], NAN),
    ("mean_known", [[INF, 1.0]], INF),
    ("mean_known", [[INF, -INF]], NAN),
    ("mean_known", [[0.1]], 0.1),
    ("factorial", [0], 1),
    ("factorial", [20], math.factorial(20)),
    ("factorial", [300], math.factorial(300)),
    ("factorial", [2500], math.factorial(2500)),
    ("digit_sum", [0], 0),
    ("digit_sum", [-907], 16),
    ("digit_sum", [10**700 - 1], 6300),
    ("digit_sum", [-(10**6000) - 5], 6),
    ("scale", [[1.0, INF, -INF, NAN], -2.0], [-2.0, -INF, INF, NAN]),
    ("scale", [[0.0, -0.0, TINY], -1.0], [-0.0, 0.0, -TINY]),
    ("scale", [[0.1, 1e308], 10.0], [1.0, INF]),
    ("scale", [[INF], 0.0], [NAN]),
]


def is_same(a, b):
    """Equal, of the same type; nan is the same as nan, 0.0 not as -0.0."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(map(is_same, a, b))
    if isinstance(a, float):
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        return a == b and math.copysign(1.0, a) == math.copysign(1.0, b)
    return a == b


def load_solution(path):
    spec = importlib.util.spec_from_file_location("solution", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    details = None
    try:
        solution = load_solution(sys.argv[1])
    except Exception as e:
        solution = None
        details = f"can't be loaded: {str(e)[:200]}"
    cases = []
    for name, args, expected in CASES:
        try:
            result = getattr(solution, name)(*args)
            good, error = bool(is_same(result, expected)), None
        except Exception as e:
            good, error = False, str(e)[:200]
        cases.append({"id": f"{name}-{len(cases)}", "passed": good,
                      "error": error})
    right = sum(case["passed"] for case in cases)
    passed = bool(cases) and right == len(cases)
    print(json.dumps({
        "schema_version": "1.0",
        "score": right / len(cases) if cases else 0.0,
        "passed": passed,
        "details": details or f"{right} of {len(cases)} cases are right",
        "cases": cases,
    }))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
