"""A judge that computes, asks the answer twice, and prints much before its
verdict, so that each of these can be caught."""
import json
import os
import subprocess
import sys


def ask(solution):
    run = subprocess.run(
        [os.environ["BAILIFF_ANSWER"], "--", "python3", solution, "20"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    return run.returncode == 0 and len(run.stdout) == 300 * 1024 + 13 and \
        run.stdout.endswith(b"x\nresult 50000\n")


def main():
    right = 0
    for _ in range(2):
        n = 0
        for k in range(100000):
            n += k & 1
        right += ask(sys.argv[1])
    for _ in range(300):
        os.write(1, b"chatter " * 500 + b"\n")
    print(json.dumps({"score": right / 2, "passed": right == 2}))
    return 0 if right == 2 else 1


if __name__ == "__main__":
    sys.exit(main())
