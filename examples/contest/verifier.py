#!/usr/bin/env python3
"""Judges a program that reads standard input and writes standard output.

Each case is one run of the answer, in a cell of its own. The expected output
stays here: the answer gets the input alone.
"""

import json
import os
import subprocess
import sys

# Without bailiff the answer runs right here, which separates nothing.
ANSWER = os.environ.get("BAILIFF_ANSWER")
AS_ANSWER = [ANSWER, "-t", "2", "--"] if ANSWER else ["timeout", "2"]


def run(solution, text):
    """The answer's words, and None; or None, and what went wrong."""
    done = subprocess.run(
        AS_ANSWER + ["python3", solution], input=text.encode(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode == 124:
        return None, "took too long"
    if done.returncode != 0:
        return None, f"ended with status {done.returncode}"
    return done.stdout.split(), None


def main():
    solution, tests = sys.argv[1], sys.argv[2]
    with open(tests, encoding="utf-8") as f:
        cases = json.load(f)
    results = []
    for case in cases:
        words, error = run(solution, case["input"])
        good = error is None and words == case["expected"].encode().split()
        results.append({"id": case["id"], "passed": good, "error": error})
    right = sum(result["passed"] for result in results)
    passed = bool(results) and right == len(results)
    print(json.dumps({
        "schema_version": "1.0",
        "score": right / len(results) if results else 0.0,
        "passed": passed,
        "details": f"{right} of {len(results)} cases are right",
        "cases": results,
    }))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
