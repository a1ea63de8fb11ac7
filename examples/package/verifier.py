#!/usr/bin/env python3
"""Judges a program that is a folder: runs its main.py with each case."""

import json
import os
import subprocess
import sys

ANSWER = os.environ.get("BAILIFF_ANSWER")

CASES = [
    ("ann 3.50\nbob -0.25\nann 0.50\n", "ann 4.00\nbob -0.25\n"),
    ("", ""),
    ("zoe 1.00\nadam 2.00\n", "adam 2.00\nzoe 1.00\n"),
    ("x 0.10\n" * 10, "x 1.00\n"),
    ("\na -1.05\n\na 1.05\n", "a 0.00\n"),
    ("m 90071992547409.91\nm 0.02\n", "m 90071992547409.93\n"),
    ("b -0.01\nb -0.02\na 7.00\n", "a 7.00\nb -0.03\n"),
    ("Zed 1.00\nann 1.00\n", "Zed 1.00\nann 1.00\n"),
]


def run(program, text):
    """The program's status and output."""
    argv, seconds = ["python3", program], 2
    if ANSWER:
        argv, seconds = [ANSWER, "-t", "2", "--", *argv], None
    try:
        done = subprocess.run(argv, input=text.encode(), timeout=seconds,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False)
    except subprocess.TimeoutExpired:
        return 124, b""
    return done.returncode, done.stdout


def main():
    program = os.path.join(sys.argv[1], "main.py")
    results = []
    for number, (text, expected) in enumerate(CASES):
        status, output = run(program, text)
        good = status == 0 and output.split() == expected.encode().split()
        error = f"ended with status {status}" if status else None
        results.append({"id": str(number), "passed": good, "error": error})
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
