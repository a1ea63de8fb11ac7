#!/usr/bin/env python3
"""Judges is_palindrome, in the usual way: loads the answer and calls it."""

import importlib.util
import json
import sys

CASES = [
    ("A man, a plan, a canal: Panama", True),
    ("race a car", False),
    ("", True),
    (" .,", True),
    ("0P", False),
    ("Was it a car or a cat I saw?", True),
    ("Never odd or even", True),
    ("almost tsomla!", True),
    ("ab" * 5000, False),
    ("12321", True),
]


def load_solution(path):
    spec = importlib.util.spec_from_file_location("solution", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def report(right, total, cases, details=None):
    passed = total > 0 and right == total
    print(json.dumps({
        "schema_version": "1.0",
        "score": right / total if total else 0.0,
        "passed": passed,
        "details": details or f"{right} of {total} cases are right",
        "cases": cases,
    }))
    return 0 if passed else 1


def main():
    try:
        solution = load_solution(sys.argv[1])
        is_palindrome = solution.is_palindrome
    except Exception as e:
        return report(0, len(CASES), [], f"can't be loaded: {str(e)[:200]}")

    results = []
    for number, (text, expected) in enumerate(CASES):
        error = None
        try:
            passed = bool(is_palindrome(text) == expected)
        except Exception as e:
            passed = False
            error = str(e)[:200]
        results.append({"id": str(number), "passed": passed, "error": error})
    right = sum(result["passed"] for result in results)
    return report(right, len(CASES), results)


if __name__ == "__main__":
    sys.exit(main())
