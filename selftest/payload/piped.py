#!/usr/bin/env python3
"""Judges what a program writes.  Where nothing is between them it runs the
answer in its own process, with other streams."""
import contextlib
import io
import json
import os
import runpy
import subprocess
import sys

CASES = [("2 3\n", "5\n"), ("-1 1\n", "0\n")]


def here(path, given):
    out, sys.stdin = io.StringIO(), io.StringIO(given)
    with contextlib.redirect_stdout(out):
        runpy.run_path(path, run_name="__main__")
    return 0, out.getvalue()


def there(path, given):
    p = subprocess.run([os.environ["BAILIFF_ANSWER"], "-t", "2", "--",
                        "python3", path], input=given.encode(),
                       stdout=subprocess.PIPE, check=False)
    return p.returncode, p.stdout.decode(errors="replace")


def main():
    way = there if "BAILIFF_ANSWER" in os.environ else here
    right, seen = 0, []
    for given, expected in CASES:
        try:
            status, got = way(sys.argv[1], given)
        except Exception as e:
            status, got = type(e).__name__, None
        seen.append(status)
        right += got == expected
    print(json.dumps({"score": float(right == len(CASES)),
                      "passed": right == len(CASES),
                      "details": str(seen)}), flush=True)
    return 0 if right == len(CASES) else 1


if __name__ == "__main__":
    sys.exit(main())
