"""What one call of an answer's function costs, next to a bare pipe round trip.

Prints microseconds: of a round trip of 64 bytes between two processes, of a
call with two small integers, of one with a list of 100, and how long the
answer's module took to load.
"""

import importlib.util
import json
import os
import sys
import time

CALLS = 10000


def per(calls, what):
    start = time.perf_counter()
    for _ in range(calls):
        what()
    return (time.perf_counter() - start) / calls * 1e6


def round_trip():
    there, me = os.pipe(), os.pipe()
    if os.fork() == 0:
        while os.write(me[1], os.read(there[0], 64)):
            pass
        os._exit(0)
    os.close(there[0])
    os.close(me[1])
    data = b"x" * 64

    def once():
        os.write(there[1], data)
        os.read(me[0], 64)
    cost = per(CALLS, once)
    os.close(there[1])
    return cost


def main():
    bare = round_trip()
    start = time.perf_counter()
    spec = importlib.util.spec_from_file_location("solution", sys.argv[1])
    solution = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(solution)
    load = (time.perf_counter() - start) * 1e3
    small = per(CALLS, lambda: solution.add(2, 3))
    row = list(range(100))
    listed = per(CALLS // 10, lambda: solution.total(row))
    print(json.dumps({
        "score": 1.0, "passed": True, "details":
        f"{bare:.1f} us a bare round trip; {small:.1f} us a call "
        f"({small / bare:.1f} times); {listed:.1f} us with a list of 100; "
        f"{load:.1f} ms to load"}))


if __name__ == "__main__":
    main()
