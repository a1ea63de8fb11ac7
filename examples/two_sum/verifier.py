#!/usr/bin/env python3
"""Judges two_sum.

The answer's function is called by a driver that runs as the answer, in a cell
of its own. Arguments go there as JSON on standard input, and what comes back
is only data: it is checked here, by adding up, so that no expected value ever
leaves this process.
"""

import json
import os
import random
import subprocess
import sys

# Without bailiff the driver runs right here, which separates nothing.
ANSWER = os.environ.get("BAILIFF_ANSWER")
AS_ANSWER = [ANSWER, "-t", "2", "--"] if ANSWER else ["timeout", "2"]

# What the answer prints must not mix with what its function returns.
DRIVER = """
import importlib, json, os, sys
call = json.load(sys.stdin)
out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
sys.path.insert(0, os.getcwd())
module = importlib.import_module(sys.argv[1])
value = module.two_sum(call["nums"], call["target"])
out.write(json.dumps(value))
out.flush()
"""


def ask(name, nums, target):
    """What the answer returns, and None; or None, and why there is nothing."""
    run = subprocess.run(
        AS_ANSWER + ["python3", "-c", DRIVER, name],
        input=json.dumps({"nums": nums, "target": target}).encode(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if run.returncode == 124:
        return None, "took too long"
    if run.returncode != 0:
        return None, f"ended with status {run.returncode}"
    try:
        return json.loads(run.stdout), None
    except (ValueError, RecursionError):
        return None, "returned no plain data"


def is_right(value, nums, target):
    """Two different places whose values add up."""
    if not isinstance(value, list) or len(value) != 2:
        return False
    if not all(type(i) is int and 0 <= i < len(nums) for i in value):
        return False
    return value[0] != value[1] and nums[value[0]] + nums[value[1]] == target


def big_case(rng):
    """Even numbers, one odd, and one that is larger: only those two fit."""
    odd, large = 2 * rng.randrange(10**9) + 1, 2 * 10**9 + 2
    nums = [2 * rng.randrange(-10**9, 10**9) for _ in range(19998)]
    nums += [odd, large]
    rng.shuffle(nums)
    return nums, odd + large


def cases():
    rng = random.SystemRandom()
    yield "first two", [2, 7, 11, 15], 9
    yield "far apart", [3, 8, 20, 41, 5], 8
    yield "same value twice", [3, 5, 3], 6
    yield "below zero", [-4, 9, -11, 30], -15
    yield "zero", [0, 4, 3, 0], 0
    yield "not half of it", [5, 1, 9, 2], 10
    yield ("many", *big_case(rng))


def main():
    name = os.path.splitext(os.path.basename(sys.argv[1]))[0]
    results = []
    for title, nums, target in cases():
        value, error = ask(name, nums, target)
        good = error is None and is_right(value, nums, target)
        results.append({"id": title, "passed": good, "error": error})
    right = sum(case["passed"] for case in results)
    passed = right == len(results)
    print(json.dumps({
        "schema_version": "1.0",
        "score": right / len(results),
        "passed": passed,
        "details": f"{right} of {len(results)} calls are right",
        "cases": results,
    }))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
