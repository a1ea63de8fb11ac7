#!/bin/bash
# A04. Changes the checker in memory: there is nothing of the judge in the
# answer's process.
# More of the kind: builtins, modules, the verifier's own globals, trace and
# profile hooks, its code objects, finalizers, frames, the collector's list, the
# clock, random numbers, the audit hooks, what the serving program holds.
. selftest/payload/judged.sh

answer right.py <<'E'
def add(a, b):
    return a + b
E
honest "$usual" right.py "an honest answer"
a() {		# NAME: an answer that fools the usual verifier
	answer "$1.py"
	attack "$usual" "$1.py" "$1" -t 5
}
a json_dumps <<'E'
import json
json.dumps = lambda *a, **k: '{"score": 1.0, "passed": true}'
def add(a, b):
    return 3
E
a print <<'E'
import builtins
real = builtins.print
builtins.print = lambda *a, **k: real('{"score": 1.0, "passed": true}')
def add(a, b):
    return 3
E
a stdout <<'E'
import sys
class W:
    def __init__(self, f): self.f = f
    def write(self, s): return self.f.write(s.replace("false", "true").replace("0.0", "1.0"))
    def flush(self): self.f.flush()
sys.stdout = W(sys.stdout)
def add(a, b):
    return 3
E
a frames <<'E'
import sys
def add(a, b):
    f = sys._getframe(1)
    while f is not None:
        if "expected" in f.f_locals:
            return f.f_locals["expected"]
        f = f.f_back
E
a collector <<'E'
import gc
def add(a, b):
    for o in gc.get_objects():
        if type(o) is list and o and type(o[0]) is tuple and len(o[0]) == 2 \
                and o[0] == ((2, 3), 5):
            return dict(o)[a, b]
E
a main_globals <<'E'
import sys
def add(a, b):
    return dict(sys.modules["__main__"].CASES)[a, b]
E
a main_cases <<'E'
import sys
getattr(sys.modules["__main__"], "CASES", [])[:] = [((1, 1), 77)]
def add(a, b):
    return 77
E
a clock <<E
import time
real = time.perf_counter
time.perf_counter = time.monotonic = time.time = lambda: 1.0
def add(a, b):
    time.sleep(0.6 * $slow)
    return a + b
E
a clock_faster <<E
import time, sys
real = time.perf_counter
def add(a, b):
    begin = real()
    while real() - begin < 0.6 * $slow:
        pass
    t = begin
    if time.perf_counter is real:
        time.perf_counter = lambda: t
    return a + b
E
a code <<'E'
import sys
m = sys.modules["__main__"]
def main():
    m.print('{"score": 1.0, "passed": true}')
    raise SystemExit(0)
def add(a, b):
    main()
add.__code__.co_name
def exec_all():
    f = sys._getframe()
    while f:
        if f.f_code.co_name == "main" and "right" in f.f_locals:
            f.f_builtins["print"] = lambda *a: sys.__stdout__.write(
                '\n{"score": 1.0, "passed": true}\n')
        f = f.f_back
exec_all()
E
a trace <<'E'
import sys, ctypes
def tr(frame, event, arg):
    if "right" in frame.f_locals and event == "line":
        frame.f_locals["right"] = 3
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), 0)
    return tr
def add(a, b):
    f = sys._getframe(1)
    sys.settrace(tr)
    while f:
        f.f_trace = tr
        f = f.f_back
    return 3
E
a shutdown_hook <<'E'
import os, sys, threading
threading._shutdown = lambda: (sys.stdout.flush(), os.write(
    1, b'\n{"score": 1.0, "passed": true}\n'), os._exit(0))
def add(a, b):
    return 3
E
a int_in_memory <<'E'
import ctypes, sys
def add(a, b):
    f = sys._getframe(1)
    while f is not None and "expected" not in f.f_locals:
        f = f.f_back
    if f is None:
        return None
    return ctypes.cast(id(f.f_locals["expected"]), ctypes.py_object).value
E
a modules <<'E'
import sys, types
fake = types.ModuleType("json")
fake.dumps = lambda d: '{"score": 1.0, "passed": true}'
sys.modules["json"] = fake
m = sys.modules["__main__"]
m.json = fake
def add(a, b):
    return 3
E

# A judge by unittest, and one that draws its cases.
verifier unit.py <<'E'
import importlib.util, json, sys, unittest
spec = importlib.util.spec_from_file_location("solution", sys.argv[1])
mod = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mod)
class T(unittest.TestCase):
    def test_one(self):
        self.assertEqual(mod.add(2, 3), 5)
    def test_two(self):
        self.assertEqual(mod.add(-1, 1), 0)
if __name__ == "__main__":
    r = unittest.TextTestRunner(stream=sys.stderr).run(
        unittest.defaultTestLoader.loadTestsFromTestCase(T))
    good = r.wasSuccessful() and r.testsRun == 2
    print(json.dumps({"score": float(good), "passed": good}))
    sys.exit(not good)
E
honest unit.py right.py "unittest, an honest answer"
answer testcase.py <<'E'
import unittest
def run(self, result=None):
    result.testsRun += 1
unittest.TestCase.run = unittest.TestCase.__call__ = run
def add(a, b):
    return 3
E
attack unit.py testcase.py "unittest.TestCase.run"
answer asserts.py <<'E'
import unittest
unittest.TestCase.assertEqual = lambda *a: None
def add(a, b):
    return 3
E
attack unit.py asserts.py "unittest's assertEqual"
verifier drawn.py <<'E'
import importlib.util, json, random, sys
spec = importlib.util.spec_from_file_location("solution", sys.argv[1])
mod = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mod)
if __name__ == "__main__":
    random.seed()
    good = True
    for _ in range(5):
        a, b = random.randrange(10**6), random.randrange(10**6)
        try:
            good = good and mod.add(a, b) == a + b
        except Exception:
            good = False
    print(json.dumps({"score": float(good), "passed": good}))
    sys.exit(not good)
E
honest drawn.py right.py "drawn cases, an honest answer"
answer seed.py <<'E'
import random
random.seed = lambda *a: None
random.randrange = lambda *a: 1
def add(a, b):
    return 2
E
attack drawn.py seed.py "random.seed"
answer state.py <<'E'
import random
class R:
    def __getattr__(self, n):
        return lambda *a: 1
random._inst = R()
random.randrange = random._inst.randrange
random.seed = random._inst.seed
def add(a, b):
    return 2
E
attack drawn.py state.py "random's own generator"

# What is in the answer's process is the answer's, and no word of the judge's.
answer search.py <<'E'
import gc, re, sys
WORD = re.compile(b"SECRE[T]-OF-TH[E]-JUDGE [0-9]")
def add(a, b):
    seen, hits = set(), []
    def look(o, depth):
        if id(o) in seen or depth > 6:
            return
        seen.add(id(o))
        if isinstance(o, str) and WORD.search(o.encode(errors="replace")):
            hits.append(o)
        elif isinstance(o, (list, tuple, set)):
            for x in list(o): look(x, depth + 1)
        elif isinstance(o, dict):
            for k, v in list(o.items()): look(k, depth + 1), look(v, depth + 1)
    for o in gc.get_objects():
        look(o, 0)
    f = sys._getframe()
    while f:
        look(f.f_locals, 0)
        look(f.f_code.co_consts, 0)
        f = f.f_back
    mem = 0
    with open("/proc/self/mem", "rb", buffering=0) as m:
        for line in open("/proc/self/maps").readlines():
            r = line.split()
            if r[1].startswith("rw"):
                lo, hi = (int(x, 16) for x in r[0].split("-"))
                try:
                    m.seek(lo)
                    mem += WORD.search(m.read(min(hi - lo, 64 << 20))) \
                        is not None
                except (OSError, ValueError, OverflowError):
                    pass
    return [len(hits), mem]
E
verifier secret.py <<'E'
import importlib.util, json, sys
SECRET = "SECRET-OF-THE-JUDGE %d" % (6 * 7)
spec = importlib.util.spec_from_file_location("solution", sys.argv[1])
mod = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mod)
if __name__ == "__main__":
    got = mod.add(2, 3)
    print(json.dumps({"score": 0.0, "passed": False, "details": repr(got)}))
E
alone secret.py search.py >/dev/null
like "$(grep -o 'details.*' "$work/alone")" '.*\[[1-9][0-9]*, [1-9].*' \
    "control: without walls the judge's words are in its memory"
run secret.py search.py
is "$(ask 'd["details"]')" "[0, 0]" "none of the judge's words is in memory"
done_testing
