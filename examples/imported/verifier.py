#!/usr/bin/env python3
"""Judges a module that it imports by its name."""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[1])))


def raises(kind, function, *args):
    try:
        function(*args)
    except kind:
        return True
    return False


CHECKS = {
    "default": lambda s: s.caesar("Hello, xyz!") == "Khoor, abc!",
    "shift": lambda s: s.caesar("abc", 1) == "bcd",
    "back": lambda s: s.caesar("Khoor", back=True) == "Hello",
    "large": lambda s: s.caesar("Az", shift=26 * 10**30 + 1) == "Ba",
    "below": lambda s: s.caesar("bcd", -1) == "abc",
    "empty": lambda s: s.caesar("") == "",
    "other": lambda s: s.caesar("é ß 1 \U0001f600\n", 7)
    == "é ß 1 \U0001f600\n",
    "type": lambda s: raises(TypeError, s.caesar, b"abc"),
    "crack": lambda s: s.crack("Khoor, zruog!", "world") == 3,
    "zero": lambda s: s.crack("abc", "b") == 0,
    "none": lambda s: raises(ValueError, s.crack, "abc", "xx"),
}


def report(cases, details=None):
    right = sum(case["passed"] for case in cases)
    passed = right == len(CHECKS)
    print("Judged", len(cases), "cases.")
    print(json.dumps({
        "schema_version": "1.0",
        "score": right / len(CHECKS),
        "passed": passed,
        "details": details or f"{right} of {len(CHECKS)} checks are right",
        "cases": cases,
    }))
    return 0 if passed else 1


def main():
    try:
        import solution
    except Exception as e:
        return report([], f"can't be imported: {str(e)[:200]}")
    cases = []
    for name, check in CHECKS.items():
        try:
            good, error = bool(check(solution)), None
        except Exception as e:
            good, error = False, str(e)[:200]
        cases.append({"id": name, "passed": good, "error": error})
    return report(cases)


if __name__ == "__main__":
    sys.exit(main())
