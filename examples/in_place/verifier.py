#!/usr/bin/env python3
"""Judges functions that change their arguments in place."""

import copy
import importlib.util
import json
import sys


def load_solution(path):
    spec = importlib.util.spec_from_file_location("solution", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ZEROES = [
    ([0, 1, 0, 3, 12], [1, 3, 12, 0, 0]),
    ([0], [0]),
    ([], []),
    ([4, 5, 6], [4, 5, 6]),
    ([0, 0, 7], [7, 0, 0]),
    ([-1, 0, -2, 0, -1], [-1, -2, -1, 0, 0]),
]
COUNTS = [
    (["a", "b", "a"], {}, {"a": 2, "b": 1}),
    (["x"], {"x": 4, "y": 1}, {"x": 5, "y": 1}),
    ([], {"z": 0}, {"z": 0}),
]
GRIDS = [
    ([[1, 2], [3, 4]], [[1, 3], [2, 4]]),
    ([[5]], [[5]]),
    ([[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[1, 4, 7], [2, 5, 8], [3, 6, 9]]),
]


def check_zeroes(solution, nums, expected):
    given = list(nums)
    result = solution.move_zeroes(given)
    return result is None and given == expected


def check_counts(solution, words, before, expected):
    given, counts = list(words), dict(before)
    result = solution.count_words(given, counts)
    return result is None and given == words and counts == expected


def check_grid(solution, grid, expected):
    given = copy.deepcopy(grid)
    rows = list(given)
    result = solution.transpose(given)
    return result is None and given == expected and rows == expected


def all_cases():
    for case in ZEROES:
        yield "move_zeroes", check_zeroes, case
    for case in COUNTS:
        yield "count_words", check_counts, case
    for case in GRIDS:
        yield "transpose", check_grid, case


def main():
    cases = []
    details = None
    try:
        solution = load_solution(sys.argv[1])
    except Exception as e:
        solution = None
        details = f"can't be loaded: {str(e)[:200]}"
    for name, check, case in all_cases():
        try:
            good = bool(check(solution, *case))
            error = None
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
