#!/usr/bin/env python3
"""Judges functions on linked lists. The nodes are made here."""

import importlib.util
import json
import sys

CASES = [
    ("reverse", [[1, 2, 3, 4, 5]], [5, 4, 3, 2, 1]),
    ("reverse", [[]], []),
    ("reverse", [[7]], [7]),
    ("reverse", [[1, 1, 2]], [2, 1, 1]),
    ("reverse", [list(range(150))], list(range(149, -1, -1))),
    ("merge", [[1, 2, 4], [1, 3, 4]], [1, 1, 2, 3, 4, 4]),
    ("merge", [[], []], []),
    ("merge", [[], [0]], [0]),
    ("merge", [[5], [1, 2, 9]], [1, 2, 5, 9]),
    ("merge", [list(range(0, 100, 2)), list(range(1, 100, 2))],
     list(range(100))),
]


class ListNode:
    def __init__(self, val=0, next=None):
        self.val = val
        self.next = next


def build(values):
    head = None
    for value in reversed(values):
        head = ListNode(value, head)
    return head


def values_of(node, bound):
    """The list's values; a list that goes on for ever is cut."""
    values = []
    while node is not None and len(values) < bound:
        values.append(node.val)
        node = node.next
    return values


def load_solution(path):
    spec = importlib.util.spec_from_file_location("solution", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check(solution, name, lists, expected):
    function = getattr(solution, name)
    result = function(*[build(values) for values in lists])
    return values_of(result, len(expected) + 1) == expected


def main():
    try:
        solution = load_solution(sys.argv[1])
    except Exception as e:
        print(json.dumps({"score": 0.0, "passed": False,
                          "details": f"can't be loaded: {str(e)[:200]}"}))
        return 1
    cases = []
    for number, (name, lists, expected) in enumerate(CASES):
        try:
            good, error = bool(check(solution, name, lists, expected)), None
        except Exception as e:
            good, error = False, str(e)[:200]
        cases.append({"id": f"{number}-{name}", "passed": good,
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
