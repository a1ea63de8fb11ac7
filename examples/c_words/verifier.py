#!/usr/bin/env python3
"""Judges a C program: compiles it, and runs it with each case.

Compiler and program run as the answer, in the answer's cell: a compiler that
reads what the answer wrote can be made to include any file it may read.
Without bailiff, both run here.
"""

import json
import os
import subprocess
import sys

ANSWER = os.environ.get("BAILIFF_ANSWER")
PROGRAM = "./words"


def run(argv, text, seconds):
    """The program's status and output."""
    if ANSWER:
        argv = [ANSWER, "-t", str(seconds), "--", *argv]
        seconds = None
    try:
        done = subprocess.run(argv, input=text.encode(), timeout=seconds,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False)
    except subprocess.TimeoutExpired:
        return 124, b""
    return done.returncode, done.stdout


def judge(solution, cases):
    status, _ = run(["gcc", "-std=c11", "-O2", "-o", PROGRAM, solution], "",
                    20)
    if status != 0:
        return [], f"the compiler ended with status {status}"
    results = []
    for case in cases:
        status, output = run([PROGRAM], case["input"], 2)
        good = status == 0 and output.split() == case["expected"].encode() \
            .split()
        error = f"ended with status {status}" if status else None
        results.append({"id": case["id"], "passed": good, "error": error})
    return results, None


def main():
    with open(sys.argv[2], encoding="utf-8") as f:
        cases = json.load(f)
    results, details = judge(sys.argv[1], cases)
    right = sum(result["passed"] for result in results)
    passed = bool(cases) and right == len(cases)
    print(json.dumps({
        "schema_version": "1.0",
        "score": right / len(cases) if cases else 0.0,
        "passed": passed,
        "details": details or f"{right} of {len(cases)} cases are right",
        "cases": results,
    }))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
