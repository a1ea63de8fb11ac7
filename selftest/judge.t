#!/bin/bash
# Python judges that load the answer: unmodified and separated.  One usual
# verifier with answers that fool it; every end of an answer, each of them with
# a verdict; judges that would run the answer's text; exceptions of the judge's
# and of the answer's; bodies of functions; programs that a judge starts.
. selftest/payload/judged.sh

answer right.py <<'E'
def add(a, b):
    return a + b
E
answer wrong.py <<'E'
def add(a, b):
    return a - b
E

# --- one verifier, seven answers ---------------------------------------------

before=$(sha256sum <"$usual")
honest "$usual" right.py "the honest answer"
is "$(ask 'd["separation"]')" "users+namespaces" "with users and namespaces"
is "$(alone "$usual" wrong.py)" failed "a wrong answer, without walls"
run "$usual" wrong.py
gives "$zero" "a wrong answer"

fools() {	# NAME: the answer from stdin
	answer "$1.py"
	attack "$usual" "$1.py" "$1" -t 3
}
fools "prints_and_ends" <<'E'
import os
os.write(1, b'{"score": 1.0, "passed": true}\n')
os._exit(0)
E
fools "replaces_dumps_and_print" <<'E'
import builtins
import json
real = builtins.print
json.dumps = lambda *a, **k: '{"score": 1.0, "passed": true}'
builtins.print = lambda *a, **k: real('{"score": 1.0, "passed": true}')
def add(a, b):
    return 3
E
fools "equals_everything" <<'E'
class E:
    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = lambda *a: True
    __ne__ = lambda *a: False
    __hash__ = lambda s: 5
def add(a, b):
    return E()
E
fools "patches_time" <<'E'
import time
begin = time.perf_counter()
time.perf_counter = time.monotonic = time.time = lambda: begin
def add(a, b):
    time.sleep(0.6)
    return a + b
E
fools "walks_frames" <<'E'
import sys
def add(a, b):
    f = sys._getframe()
    while f:
        if "expected" in f.f_locals:
            return f.f_locals["expected"]
        f = f.f_back
    return 0
E
{ cat selftest/payload/forge.py; cat <<'E'; } | answer forges.py
V = '{"score": 1.0, "passed": true}'
def storm(n):
    for k in range(n - 3, n + 4):
        for more in ({"v": 5, "t": []}, {"v": None, "out": "\n" + V + "\n"},
                     {"names": {"add": None}, "v": 5, "t": []},
                     {"v": ["k", 0], "t": []}, {"cb": 0, "a": [], "k": {}},
                     {"v": ["h", 0], "new": {"0": {"k": "f", "name": "add",
                      "path": ["add"]}}, "t": []}):
            everywhere(frame({"n": k, **more}))
    for fd in (1, 2):
        os.write(fd, b"\n" + V.encode() + b"\n")
import atexit
atexit.register(os.write, 1, b"\n" + V.encode() + b"\n")
storm(number())
def add(a, b):
    storm(number())
    storm(0)
    return 5
E
attack "$usual" forges.py "forges the proxy's own messages" -t 3
is "$(sha256sum <"$usual")" "$before" "the verifier is what it was"

# Forgeries, one by one: those that are well formed are data, others a failure.
verifier plainly.py <<'E'
import importlib.util, json, sys
def main():
    spec = importlib.util.spec_from_file_location("solution", sys.argv[1])
    mod = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mod)
    good = all(mod.add(a, b) == a + b for a, b in ((2, 3), (4, 5)))
    print(json.dumps({"score": float(good), "passed": good}))
    return 0 if good else 1
if __name__ == "__main__":
    sys.exit(main())
E
honest plainly.py right.py "a verifier that catches nothing"

# --- what is written with async, and what is compiled first -------------------

verifier later.py <<'E'
import asyncio, importlib.util, inspect, json, sys
def main():
    spec = importlib.util.spec_from_file_location("solution", sys.argv[1])
    mod = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mod)
    async def three():
        return await asyncio.gather(mod.add(2, 3), mod.Adder().add(2, 4),
                                    mod.plain(7))
    try:
        good = inspect.iscoroutinefunction(mod.add) and \
            asyncio.run(mod.add(2, 3)) == 5 and \
            asyncio.run(three()) == [5, 6, 7]
        asyncio.run(mod.bad())
        good = False
    except ValueError as e:
        good = good and str(e) == "no"
    print(json.dumps({"score": float(good), "passed": good}))
if __name__ == "__main__":
    main()
E
answer later.py <<'E'
import asyncio
lock = asyncio.Lock()
async def add(a, b):
    async with lock:
        await asyncio.sleep(0.01)
    return a + b
class Adder:
    async def add(self, a, b): return await add(a, b)
def plain(n):
    async def inner(): return n
    return inner()
async def bad(): raise ValueError("no")
E
honest later.py later.py "async functions"
echo 'async def add(a, b): import os; os._exit(0)' | answer end.py
run later.py end.py
gives "$zero" "one that ends the process"
echo 'async def add(a, b):
    while True: pass' | answer end.py
run later.py end.py -t 1
gives "$zero" "one without an end"
echo 'def add(a, b): return 5' | answer end.py
run later.py end.py
gives "$zero" "a function that is none of them"
verifier compiles.py <<'E'
import json, os, subprocess, sys
def main():
    if not os.access(sys.argv[1], os.X_OK):
        os.chmod(sys.argv[1], 0o755)
    own = subprocess.run([os.path.abspath(sys.argv[1])],
                         capture_output=True, text=True).stdout
    subprocess.run(["sh", "-c", 'cp "$0" ./made', sys.argv[1]])
    made = subprocess.run(["./made"], capture_output=True, text=True).stdout
    piped = subprocess.run("./made | tr a-z A-Z", shell=True,
                           capture_output=True, text=True).stdout
    good = (own, made, piped) == ("hi\n", "hi\n", "HI\n")
    print(json.dumps({"score": float(good), "passed": good}))
if __name__ == "__main__":
    main()
E
printf '#!/bin/sh\necho hi\n' | answer hi.sh
chmod 755 "$work/a/hi.sh"
honest compiles.py hi.sh "a program that is made from the answer"
echo 'import os; os.chmod("x", 0)' | answer end.py
run compiles.py end.py
gives "$zero" "one that can't be run"

# A file that the verifier names is given to the answer; one that the answer
# names is not, whatever the verifier does with that.
mkdir "$work/gives" && echo secret >"$work/gives/expected.txt"
printf '3 4\n' >"$work/gives/input.txt" && echo "Sums." >"$work/gives/task.md"
cat >"$work/gives/verifier.py" <<'E'
import json, subprocess, sys
def run(*words):
    return subprocess.run([sys.executable, sys.argv[1], *words],
                          capture_output=True, text=True).stdout.strip()
if __name__ == "__main__":
    want = open("expected.txt").read()
    sums = [run("sum", "input.txt"),
            subprocess.run("python3 solution.py sum /dev/stdin < input.txt",
                           shell=True, capture_output=True,
                           text=True).stdout.strip()]
    back = run("decode", run("encode", want))
    good = sums == ["7", "7"] and back == "False"
    print(json.dumps({"score": float(good), "passed": good,
                      "details": f"{sums} {back}"}))
E
answer names.py <<'E'
import os, sys
if sys.argv[1] == "sum":
    print(sum(map(int, open(sys.argv[2]).read().split())))
elif sys.argv[1] == "encode":
    print("expected.txt")
else:
    print(os.path.exists(sys.argv[2]))
E
timeout -k 1 30 "$B" run "$work/gives" --answer "$work/a/names.py" --json \
    >"$work/out" 2>"$work/err"
is "$? $(ask 'd["details"]')" "0 ['7', '7'] False" \
    "data files by the verifier's word, and none by the answer's"
while IFS='|' read -r name code; do
	{ cat selftest/payload/forge.py; printf 'def add(a, b):\n%b\n' \
	    "$(sed 's/^/  /; s/\\n/\\n  /g' <<<"$code")"; } | answer forges.py
	run plainly.py forges.py -t 2 --judge-timeout 10
	gives "$zero" "forged: $name"
done <<'E'
a right number, a wrong value|reply({"v": 77, "t": []})
no number|reply({"v": 5}, n=-1)
another one's number|reply({"v": 5}, n=number() + 1)
a huge key of a description|reply(b'"new":{"' + b"9" * 4000000 + b'":{}},"v":5,"t":[]}')
a huge number|reply(b'"v":' + b"9" * 4000000 + b',"t":[]}')
a huge number in junk|reply(b'"v":77,"t":[],"x":[' + b"9" * 3000000 + b"]}")
a huge float|reply(b'"v":1e' + b"9" * 1000000 + b',"t":[]}')
keys that collide|P = 2**61 - 1\nks = [["i", hex(P * k)] for k in range(2, 150000)]\nreply({"v": ["@", 0], "t": [[0, ["s", ks + list(range(1, 150001))]]]})
keys of a dict that collide|P = 2**61 - 1\nks = [["i", hex(P * k)] for k in range(2, 150000)] + list(range(1, 150001))\nreply({"v": ["@", 0], "t": [[0, ["d"] + [x for k in ks for x in (k, 1)]]]})
keys that are dear to hash|t = [[0, ["t", [1, 1]]]] + [[i, ["t", [["@", i - 1], ["@", i - 1]]]] for i in range(1, 21)]\nt += [[i, ["d", ["@", 20], 1]] for i in range(100, 3000)]\nreply({"v": 5, "t": t})
deep brackets|reply(b'"v":' + b"[" * 4000000 + b"]" * 4000000 + b',"t":[]}')
much junk|reply(b'"v":77,"t":[],"x":[' + b"{}," * 3000000 + b"{}]}")
a class that is its own base|reply({"new": {"7": {"k": "c", "name": "C", "bases": [["h", 7]]}}, "v": ["h", 7], "t": []})
two classes, each the other's base|reply({"new": {"7": {"k": "c", "name": "C", "bases": [["h", 8]]}, "8": {"k": "c", "name": "D", "bases": [["h", 7]]}}, "v": ["h", 7], "t": []})
a thousand classes in a row|reply({"new": {str(i): {"k": "c", "name": "C", "bases": [["h", i + 1]]} for i in range(1, 3000)}, "v": ["h", 1], "t": []})
an object that is its own class|reply({"new": {"7": {"k": "o", "cls": ["h", 7]}}, "v": ["h", 7], "t": []})
a class of odd members|reply({"new": {"7": {"k": "c", "name": 7, "bases": 3, "own": {"x": 3, "y": {"k": []}}}}, "v": ["h", 7], "t": []})
an exception of no class|reply({"e": {"type": "X", "cls": []}, "t": []})
an exception of an odd class|reply({"e": {"type": [], "cls": ["k", 0], "bases": {}, "args": {"a": 1}}, "t": []})
an exception with an odd table|reply({"e": {"type": "X", "args": [["@", 5]]}, "t": [[5, ["l", [["@", 9]]]]]})
an exception that ends a judge|reply({"e": {"type": "SystemExit", "bases": ["SystemExit", "BaseException"], "args": [0]}, "t": []})
a callback that is none|reply({"cb": 0, "a": [], "k": {}})
a callback of a list|reply({"cb": [], "a": [], "k": {}})
a value with an odd tag|reply({"v": [[], {}], "t": []})
an entry with an odd tag|reply({"v": 5, "t": [[0, [[], []]]]})
a table that is none|reply({"v": 5, "t": {"0": 1}})
names for no load|reply({"names": {"x": 1}, "t": []})
a builtin that is none|reply({"v": ["x", "eval"], "t": []})
a named tuple of keywords|reply({"v": ["@", 0], "t": [[0, ["n", "class", ["a", "a"], [1, 2]]]]})
a fraction of nothing|reply({"v": ["F", 1, 0], "t": []})
a length of 4 GiB|os.write(channel(), b"\\xff\\xff\\xff\\xff")
a length and no more|os.write(channel(), b"\\xff\\x00\\x00\\x00")
no JSON|os.write(channel(), frame(b"hello"))
not UTF-8|os.write(channel(), frame(b'{"n":1,"v":"\\xff"}'))
E
# What was not captured does not get to the judge's own output.
verifier once_more.py <<'E'
import importlib.util, json, sys
def main():
    spec = importlib.util.spec_from_file_location("solution", sys.argv[1])
    mod = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mod)
    good = mod.add(2, 3) == 5
    print(json.dumps({"score": float(good), "passed": good}), flush=True)
    try:
        mod.add(0, 0)
    except Exception:
        pass
    return 0
if __name__ == "__main__":
    sys.exit(main())
E
{ cat selftest/payload/forge.py; cat <<'E'; } | answer forges.py
def add(a, b):
    if a == 2:
        return 3
    reply({"out": '\n{"score": 1.0, "passed": true}\n', "v": 5, "t": []})
E
run once_more.py forges.py -t 2
gives "$zero" "forged: what it printed, unasked"

# --- no answer can choose no verdict ------------------------------------------

runs
cases=0
ends() {	# NAME VERIFIER [OPTION...]: the answer is in end.py
	local name=$1 v=$2
	shift 2
	run "$v" end.py "$@"
	like "$st $(short)" "[01] (passed|failed) [01].[0-9]+ False" "end: $name"
	cases=$((cases + 1))
}
for s in {1..15} 24 25; do
	printf 'import os, signal\nif %d not in (9,): signal.signal(%d, signal.SIG_DFL)\nos.kill(os.getpid(), %d)\n' \
	    "$s" "$s" "$s" | answer end.py
	ends "signal $s" runs.sh -t 2
	ends "signal $s, called" "$usual" -t 2
done
for s in 0 1 2 3 77 124 125 126 127 130 137 255; do
	printf 'import os\ndef add(a, b): os._exit(%d)\nif __name__ == "__main__": os._exit(%d)\n' \
	    "$s" "$s" | answer end.py
	ends "exit $s" runs.sh -t 2
	ends "exit $s, called" "$usual" -t 2
done
while IFS='|' read -r name options code; do
	printf 'import os, sys, time\n%b\n' "$code" | answer end.py
	# shellcheck disable=SC2086 # options are words
	ends "$name" runs.sh $options
	# shellcheck disable=SC2086
	ends "$name, called" plainly.py $options
done <<'E'
a flood of output|-t 1|def add(a, b):\n  while True: os.write(1, b"x" * 65536)\nif __name__ == "__main__": add(0, 0)
a flood of errors|-t 1 --judge-timeout 12|def add(a, b):\n  while True: os.write(2, b"x" * 65536)\nif __name__ == "__main__": add(0, 0)
both floods|-t 1 --judge-timeout 12|def add(a, b):\n  while True: os.write(2, b"x" * 65536); os.write(1, b"x" * 65536)\nif __name__ == "__main__": add(0, 0)
memory|-m 200m -t 5|def add(a, b):\n  x = []\n  while True: x.append(bytes(1 << 20))\nif __name__ == "__main__": add(0, 0)
time, at the deadline of a call|-t 0.6|def add(a, b): time.sleep(0.595); return a + b\nif __name__ == "__main__": add(0, 0)
time, just above it|-t 0.6|def add(a, b): time.sleep(0.605); return a + b\nif __name__ == "__main__": add(0, 0)
time, far above it|-t 0.3|def add(a, b): time.sleep(99)\nif __name__ == "__main__": add(0, 0)
time, the answers' budget|-t 30 --judge-timeout 2|def add(a, b): time.sleep(99)\nif __name__ == "__main__": add(0, 0)
time, just before the budget|-t 30 --judge-timeout 2|def add(a, b): time.sleep(0.74); return a + b\nif __name__ == "__main__": time.sleep(1.49)
time, at the import|-t 30 --judge-timeout 2|time.sleep(99)
time, at its own exit|-t 0.5|import atexit\natexit.register(time.sleep, 99)\ndef add(a, b): return a + b
garbage on every descriptor|-t 1|def add(a, b):\n  for i in range(3, 40):\n    try: os.write(i, os.urandom(4096))\n    except OSError: pass\n  return 5\nif __name__ == "__main__": add(0, 0)
garbage in standard output|-t 1|def add(a, b):\n  os.write(1, bytes(range(256)) * 9)\n  return 3\nif __name__ == "__main__": add(0, 0)
garbage in the artifacts|-t 1|def add(a, b): return 3\nos.mkdir("artifacts")\nfor i in range(9): open(b"artifacts/\\xff\\n" + bytes([65 + i]), "w").write("x")\nos.mkfifo("artifacts/p")
recursion|-t 5|def add(a, b): return add(a, b)\nif __name__ == "__main__": add(0, 0)
recursion without a limit|-t 5|sys.setrecursionlimit(10**9)\ndef add(a, b): return add([a], [b])\nif __name__ == "__main__": add(0, 0)
deep recursion in C|-t 5|sys.setrecursionlimit(10**9)\ndef add(a, b):\n  x = []\n  for i in range(10**6): x = [x]\n  return repr(x)\nif __name__ == "__main__": add(0, 0)
closed channels|-t 1|def add(a, b): os.closerange(0, 99); time.sleep(0.1)\nif __name__ == "__main__": add(0, 0)
E
while IFS='|' read -r name code; do
	printf 'import os, sys, time\n%b\n' "$code" | answer end.py
	ends "a result: $name" plainly.py -t 3 --judge-timeout 12
done <<'E'
1 GiB|def add(a, b): return "x" * (1 << 30)
deep nesting|def add(a, b):\n  x = []\n  for i in range(100000): x = [x]\n  return x
nesting of just too many|def add(a, b):\n  x = ()\n  for i in range(990): x = (x,)\n  return x
deep objects|class C: pass\ndef add(a, b):\n  x = C()\n  for i in range(100000): y = C(); y.a = x; x = y\n  return x
cyclic data|def add(a, b):\n  x = []; x.append(x); return x
a cycle through objects|class C: pass\ndef add(a, b):\n  c = C(); c.x = {"c": [c]}; return c
one thing many times|def add(a, b):\n  x = 1\n  for i in range(300): x = (x, x)\n  return x
keys that collide|def add(a, b): return {i * (2**61 - 1) for i in range(3000)}
keys that collide, as text|class S(str):\n  def __hash__(s): return 1\ndef add(a, b): return {S(i): i for i in range(2000)}
a huge integer|def add(a, b): return 1 << (1 << 26)
a large integer|def add(a, b): return -(7 ** 200000)
a lone surrogate|def add(a, b): return "\\ud800"
NUL bytes|def add(a, b): return "\\0" * 100000
nan|def add(a, b): return float("nan")
a signalling nan|from decimal import Decimal\ndef add(a, b): return Decimal("sNaN")
a vast Decimal|from decimal import Decimal\ndef add(a, b): return Decimal("1e999999999999999999")
a generator without an end|def add(a, b):\n  while True: yield 1
itself|def add(a, b): return add
a module|def add(a, b): return sys
a file|def add(a, b): return open("/dev/null")
a frame|def add(a, b): return sys._getframe()
a lock|import threading\ndef add(a, b): return threading.Lock()
a coroutine|async def add(a, b): return 5
an object that lies|class C:\n  def __getattribute__(s, n): raise KeyboardInterrupt\ndef add(a, b): return C()
an object without a class of sense|def add(a, b): return type("C", (), {"__slots__": ("a", "b"), "__class__": 5})()
an exception as a value|def add(a, b): return SystemExit(0)
a class as a value|def add(a, b): return type
a class that changes|class C:\n  def __del__(s): os._exit(0)\ndef add(a, b): return C()
E
# every exception there is, raised in a call and at the import
kinds=$($PY -c 'import builtins
for n, c in sorted(vars(builtins).items()):
    if isinstance(c, type) and issubclass(c, BaseException):
        print(n)')
for k in $kinds; do
	cat >"$work/a/end.py" <<E
try:
    e = $k("x")
except TypeError:
    try:
        e = $k("utf-8", b"x", 0, 1, "x") if "Decode" in "$k" else \\
            $k("utf-8", "x", 0, 1, "x")
    except TypeError:
        try:
            e = $k("x", 0, 1, "x")
        except TypeError:
            e = $k("x", [ValueError(1), TypeError(2)])
def add(a, b):
    raise e
E
	ends "raises $k" plainly.py -t 2
	case $k in
	*Exit|*Interrupt|*Group|SyntaxError|StopIteration|*ImportError|Unicode*|\
	MemoryError|RecursionError)
		echo 'raise e' >>"$work/a/end.py"
		ends "raises $k at the import" plainly.py -t 2 ;;
	esac
done
while IFS='|' read -r name code; do
	printf 'import os, sys\n%b\n' "$code" | answer end.py
	ends "an exception: $name" plainly.py -t 3
done <<'E'
whose text raises|class B(Exception):\n  def __str__(s): raise ValueError\n  __repr__ = __str__\ndef add(a, b): raise B()
whose text ends|class B(Exception):\n  def __str__(s): os._exit(0)\ndef add(a, b): raise B()
whose text raises SystemExit|class B(Exception):\n  def __str__(s): raise SystemExit(0)\n  __repr__ = __str__\ndef add(a, b): raise B()
whose text is none|class B(Exception):\n  def __str__(s): return 5\ndef add(a, b): raise B()
whose text is huge|def add(a, b): raise ValueError("x" * (50 << 20))
whose arguments are odd|def add(a, b): raise ValueError(add, sys, [[]], b"\\xff", "\\ud800")
of its own, derived from many|class B(KeyError, IndexError, AttributeError): pass\ndef add(a, b): raise B(1)
of its own base|class B(BaseException): pass\ndef add(a, b): raise B(1)
a chain without an end|def add(a, b):\n  e = ValueError(1); e.__cause__ = e; raise e
with notes|def add(a, b):\n  e = ValueError(1); e.add_note("\\ud800" * 9); raise e
a group in a group|def add(a, b): raise BaseExceptionGroup("g", [SystemExit(0), ExceptionGroup("h", [ValueError(1)])])
with a metaclass|class M(type):\n  def __instancecheck__(c, o): raise SystemExit\n  def __subclasscheck__(c, o): raise SystemExit\nclass B(Exception, metaclass=M): pass\ndef add(a, b): raise B()
E
# a missing or an odd function
while IFS='|' read -r name code; do
	printf '%b\n' "$code" | answer end.py
	ends "$name" plainly.py -t 2
done <<'E'
no such function|def sub(a, b): return 1
no arguments|def add(): return 5
a class instead|class add: pass
__getattr__ of the module|def __getattr__(n): raise SystemExit(0)
E
verifier from_import.py <<'E'
import json, sys
sys.path.insert(0, ".")
from solution import add
def main():
    good = add(2, 3) == 5
    print(json.dumps({"score": float(good), "passed": good}))
if __name__ == "__main__":
    main()
E
run from_import.py right.py
gives "$full" "control: from solution import add"
echo 'def sub(a, b): return 1' | answer end.py
ends "nothing to import by its name" from_import.py
echo 'raise SystemExit(0)' | answer end.py
ends "an import that ends" from_import.py
verifier sorts.py <<'E'
import importlib.util, json, sys
def main():
    spec = importlib.util.spec_from_file_location("solution", sys.argv[1])
    mod = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mod)
    good = sorted(mod.add(2, 3)) == [5]
    print(json.dumps({"score": float(good), "passed": good}))
if __name__ == "__main__":
    main()
E
echo 'def add(a, b): return range(10 ** 10)' | answer end.py
ends "a range that no list holds" sorts.py -t 2
echo 'def add(a, b):
    while True: yield 5' | answer end.py
ends "a generator that is sorted" sorts.py -t 2 --judge-timeout 4
# 100,000 calls in one run
verifier calls.py <<'E'
import importlib.util, json, sys
def main():
    spec = importlib.util.spec_from_file_location("solution", sys.argv[1])
    mod = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mod)
    add = mod.add
    good = all(add(i, 1) == i + 1 for i in range(100000))
    print(json.dumps({"score": float(good), "passed": good}))
if __name__ == "__main__":
    main()
E
cp "$work/a/right.py" "$work/a/end.py"
ends "100,000 calls" calls.py --judge-timeout 100
is "$st" 0 "and all of them are right ($(ask 'd["wall_ms"]') ms)"
[ $cases -ge 40 ]
ok $? "$cases ends of an answer, each with a verdict"
verifier dies.sh <<'E'
#!/bin/sh
kill -9 $$
E
run dies.sh right.py
like "$st $(short)" "3 none - True judge judge_signal" \
    "control: a judge's own end is none"

# --- judges that would run the answer's text ----------------------------------

answer text.py <<'E'
def add(a, b):
    total = 0
    for number in (a, b):
        total += number
    return total
E
judge_with() {	# TEXT: a verifier that gets an "add" by it
	{ printf 'import ast, importlib, json, os, runpy, subprocess, sys\n'
	printf 'def load(path):\n'
	sed 's/^/    /' <<<"$1"
	cat <<'E'
def main():
    good = load(sys.argv[1])(2, 3) == 5
    print(json.dumps({"score": float(good), "passed": good}))
if __name__ == "__main__":
    main()
E
	} | verifier text.py
}
while IFS='|' read -r name code; do
	judge_with "$(printf '%b' "$code")"
	is "$(alone text.py text.py)" passed "control: it works alone: $name"
	run text.py text.py
	none answer_in_judge "$name"
	like "$(ask '"bailiff.load" in str(d) and "--judge-mode shared" in str(d)
	    ') $(grep -c 'bailiff.load.*judge-mode shared' "$work/err")" \
	    'True .*|False [1-9]' "$name: the hint"
	run text.py text.py --judge-mode shared
	gives "$full" "$name: in shared mode it may"
	is "$(ask 'd["separation"]')" none "$name: and the result says so"
done <<'E'
exec of its text|g = {}\nexec(open(path).read(), g)\nreturn g["add"]
compile and exec|g = {}\nexec(compile(open(path).read(), path, "exec"), g)\nreturn g["add"]
compile under another name|g = {}\nexec(compile(open(path).read(), "<x>", "exec"), g)\nreturn g["add"]
by the parsed tree|g = {}\nexec(compile(ast.parse(open(path).read()), "x", "exec"), g)\nreturn g["add"]
a part of the tree|t = ast.parse(open(path).read())\nt.body = t.body[-1:]\ng = {}\nexec(compile(t, "x", "exec"), g)\nreturn g["add"]
eval of its code|g = {}\neval(compile(open(path).read(), "x", "exec"), g)\nreturn g["add"]
with text before it|g = {}\nexec("import math\\n" + open(path).read(), g)\nreturn g["add"]
a shell of its own|ok = os.system("python3 " + path) == 0\nreturn lambda a, b: a + b if ok else 0
the same in one line of text|ok = subprocess.run([sys.executable, "-c", open(path).read()]).returncode == 0\nreturn lambda a, b: a + b if ok else 0
from standard input|ok = subprocess.run([sys.executable], input=open(path, "rb").read()).returncode == 0\nreturn lambda a, b: a + b if ok else 0
with tests behind it|open("both.py", "w").write(open(path).read() + "\\nassert add(2, 3) == 5\\n")\nok = subprocess.run([sys.executable, "both.py"]).returncode == 0\nreturn lambda a, b: a + b if ok else 0
a copy of it|open("copy.py", "w").write(open(path).read())\nsys.path.insert(0, ".")\nimport copy as c0\nimport importlib.util as u\ns = u.spec_from_file_location("c", "copy.py")\nm = u.module_from_spec(s)\ns.loader.exec_module(m)\nreturn m.add
E
# However short it is.
while IFS='|' read -r name code; do
	printf '%b\n' "$code" | answer short.py
	for how in 'exec(open(path).read(), g)' \
	    'exec(compile(ast.parse(open(path).read()), "x", "exec"), g)'; do
		judge_with "$(printf 'g = {}\n%s\nreturn g["add"]' "$how")"
		run text.py short.py
		none answer_in_judge "short: $name: $how"
	done
done <<'E'
a sum|def add(a, b):\n    return a + b
a lambda|add = lambda a, b: 5
an import|from operator import add
E
# Looking at it is allowed.
while IFS='|' read -r name code; do
	judge_with "$(printf '%b' "$code")"
	run text.py right.py
	gives "$full" "allowed: $name"
done <<'E'
ast.parse|t = ast.parse(open(path).read())\nreturn lambda a, b: a + b if t.body[0].name == "add" else 0
compile alone|compile(open(path).read(), path, "exec")\nreturn lambda a, b: a + b
its names, by its code object|c = compile(open(path).read(), path, "exec")\nreturn lambda a, b: a + b if "add" in c.co_names else 0
py_compile|import py_compile\npy_compile.compile(path, "x.pyc", doraise=True)\nreturn lambda a, b: a + b
ast.literal_eval of a part|return lambda a, b: ast.literal_eval("5")
a function of the judge's own|g = {}\nexec("def mine(a, b):\\n    return [a, b]", g)\nreturn lambda a, b: a + b
tokens|import tokenize\nn = len(list(tokenize.tokenize(open(path, "rb").readline)))\nreturn lambda a, b: a + b if n else 0
E
# A reference solution that the answer equals is the judge's own.
mkdir "$work/env"
echo task >"$work/env/task.md"
cp "$work/a/right.py" "$work/env/reference_solution.py"
cat >"$work/env/verifier.py" <<'E'
import importlib.util, json, os, sys
def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    mod = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mod)
    return mod
def main():
    g = {}
    exec(compile(open("reference_solution.py").read(), "ref", "exec"), g)
    ref = load("reference_solution.py", "ref")
    mod = load(sys.argv[1], "solution")
    good = mod.add(2, 3) == g["add"](2, 3) == ref.add(2, 3)
    print(json.dumps({"score": float(good), "passed": good}))
if __name__ == "__main__":
    main()
E
"$B" run "$work/env" --answer "$work/a/right.py" --json >"$work/out" 2>"$work/err"
st=$?
gives "$full" "a reference solution that equals the answer may be run"

# --- whose exception ----------------------------------------------------------

while IFS='|' read -r name want code; do
	judge_with "$(printf '%b' "$code")"
	run text.py right.py
	case $want in
	none)	none judge_failed "$name" ;;
	*)	gives "$zero" "$name" ;;
	esac
done <<'E'
a judge's ValueError|none|raise ValueError("mine")
a judge's NameError|none|return nothing
a judge's KeyboardInterrupt|none|raise KeyboardInterrupt
a judge's recursion|none|return load(path)
a judge's syntax error at its import|none|exec("def (")
a judge's missing module|none|import no_such_module
a judge's AssertionError|none|assert False
status 2|none|sys.exit(2)
E
answer raises.py <<'E'
class Own(Exception):
    pass
def add(a, b):
    raise Own("its own")
E
run plainly.py raises.py
gives "$zero" "an exception of the answer's that nobody caught"
like "$(ask 'd["details"]')" ".*Own.*its own.*" "and the details name it"
is "$(ask 'd["error_type"]')" runtime_error "and what kind it is"
echo 'import no_such_module' | answer raises.py
run plainly.py raises.py
gives "$zero" "a module that the answer has not"
is "$(ask 'd["error_type"]')" import_error "and what kind that is"
printf 'import time\ndef add(a, b): time.sleep(9)\n' | answer raises.py
run plainly.py raises.py -t 0.4
gives "$zero" "a call of the answer's that takes too long"
is "$(ask 'd["error_type"]')" timeout "and what kind that is"

# --- bodies of functions -------------------------------------------------------

body() {	# WANT NAME EXPRESSION OF d, WANT OF IT: the body from stdin
	verifier body.py
	run body.py right.py
	is "$st $(ask '"%s %s %s" % (d["verdict"], d["score"], d["mask_sample"])')" \
	    "$1" "body: $2"
	[ $# -lt 4 ] || is "$(ask "$3")" "$4" "body: $2: $3"
}
body "0 passed 1.0 False" "True" 'd["details"]' None <<<'return True'
body "1 failed 0.0 False" "False" 'd["details"]' None <<<'return False'
body "0 passed 0.5 False" "0.5" 'd["details"]' None <<<'return 0.5'
body "1 failed 0.25 False" "0.25" <<<'return 0.25'
body "0 passed 1.0 False" "1" <<<'return 1'
body "1 failed 0.0 False" "0" <<<'return 0'
body "0 passed 1.0 False" "7, clamped" <<<'return 7'
body "1 failed 0.0 False" "-3, clamped" <<<'return -3'
body "0 passed 0.75 False" "an object" \
    '[d["details"], d["seed"], d["metrics"], d["reward_components"]]' \
    "['well', 3, {'m': 1}, {'a': 0.5}]" \
    <<<'return {"score": 0.75, "passed": True, "details": "well", "seed": 3,
	"metrics": {"m": 1}, "reward_components": {"a": 0.5}}'
body "1 failed 0.75 False" "an object without passed" \
    <<<'return {"score": 0.75}'
body "1 failed 0.0 False" "an empty object" <<<'return {}'
body "0 passed 0.0 False" "an object without a score" \
    <<<'return {"passed": True}'
body "1 failed 1.0 False" "an object, clamped" \
    <<<'return {"score": 9, "passed": False}'
body "0 passed 1.0 False" "cases" '[c["passed"] for c in d["cases"]]' \
    "[True, False]" <<<'return {"score": 1, "passed": True,
	"cases": [{"passed": True}, {"passed": False}]}'
body "1 failed 0.0 False" "text" '"str" in d["details"]' True \
    <<<'return "passed"'
body "1 failed 0.0 False" "None" '"NoneType" in d["details"]' True \
    <<<'return None'
body "1 failed 0.0 False" "a return without a value" \
    '"NoneType" in d["details"]' True <<<'if solution_path: return'
body "1 failed 0.0 False" "a list" '"list" in d["details"]' True \
    <<<'return [True]'
body "1 failed 0.0 False" "a tuple" '"tuple" in d["details"]' True \
    <<<'return (1.0, True)'
body "1 failed 0.0 False" "nan" <<<'return float("nan")'
body "0 passed 1.0 False" "its two names" \
    <<<'return solution_path == "solution.py" and test_cases_path is None'
body "0 passed 1.0 False" "it prints, too" \
    <<<'print("{\"score\": 0, \"passed\": false}"); return True'
body "0 passed 1.0 False" "it loads the answer" <<<'import importlib.util
spec = importlib.util.spec_from_file_location("solution", solution_path)
sol = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sol)
good = sum(sol.add(n, n) == 2 * n for n in (0, 3, -4))
return {"score": good / 3, "passed": good == 3, "details": f"{good}/3"}'
verifier body.py <<<'raise ValueError("mine")'
run body.py right.py
none judge_failed "body: an exception of its own"
verifier body.py <<<'return ('
run body.py right.py
none judge_failed "body: a syntax error"
verifier body.py <<<'x = 1'
run body.py right.py
none judge_no_output "body: no return at all"
verifier body.py <<<'import os
os.write(1, b"{\"score\": 1, \"passed\": true}\n")'
run body.py right.py
gives "$full" "body: no return, but a verdict in a way of its own"
echo 'def add(a, b): raise ValueError' | answer raises.py
verifier body.py <<<'import importlib.util
spec = importlib.util.spec_from_file_location("solution", solution_path)
sol = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sol)
return sol.add(1, 2) == 3'
run body.py raises.py
gives "$zero" "body: an exception of the answer's"

# --- programs that a judge starts ----------------------------------------------

answer uid.py <<'E'
import os
print(os.getuid(), os.getcwd(), os.environ["USER"], end="")
E
while IFS='|' read -r name code; do
	{ printf 'import os, subprocess, sys, json\ndef main():\n'
	printf '    solution_path = sys.argv[1]\n    got = %s\n' "$code"
	cat <<'E'
    got = got.decode() if isinstance(got, bytes) else got
    uid, cwd, user = got.split()
    good = int(uid) != os.getuid() and user == "answer"
    print(json.dumps({"score": float(good), "passed": good, "details": got}))
if __name__ == "__main__":
    main()
E
	} | verifier starts.py
	run starts.py uid.py -t 5
	gives "$full" "$name: another user"
	is "$(ask 'len(d["answers"])')" 1 "$name: and a fact"
done <<'E'
run with sys.executable|subprocess.run([sys.executable, solution_path], stdout=subprocess.PIPE).stdout
run, text and timeout|subprocess.run([sys.executable, solution_path], capture_output=True, text=True, timeout=9).stdout
check_output|subprocess.check_output(["python3", solution_path])
an absolute path|subprocess.check_output([sys.executable, os.path.abspath(solution_path)])
Popen and communicate|subprocess.Popen(["python3", "-u", solution_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE).communicate(b"")[0]
with another folder|subprocess.run([sys.executable, os.path.abspath(solution_path)], cwd="/tmp", stdout=subprocess.PIPE).stdout
with an environment|subprocess.run([sys.executable, solution_path], env={}, stdout=subprocess.PIPE).stdout
by a shell|subprocess.check_output("python3 " + solution_path, shell=True)
by a shell, from where it is|subprocess.check_output(f"python3 ./{solution_path} <&-", shell=True)
by a shell's own command|subprocess.check_output(["bash", "-c", f"exec python3 {solution_path}"])
an import|subprocess.check_output([sys.executable, "-c", "import solution"])
a module|subprocess.check_output([sys.executable, "-m", "solution"])
getoutput by a list|subprocess.run(("python3", solution_path), stdout=-1).stdout
E
verifier starts.py <<'E'
import json, subprocess, sys
def main():
    good = []
    p = subprocess.run([sys.executable, sys.argv[1]], input="2 3\n",
                       capture_output=True, text=True, timeout=5)
    good.append(p.stdout == "5\n" and p.returncode == 0)
    p = subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True)
    good.append(p.stdout == b"1\n")
    p = subprocess.run("echo hello", shell=True, capture_output=True)
    good.append(p.stdout == b"hello\n")
    print(json.dumps({"score": sum(good) / 3, "passed": all(good)}))
if __name__ == "__main__":
    main()
E
echo 'print(sum(map(int, input().split())))' | answer sum.py
run starts.py sum.py
gives "$full" "its own programs stay its own"
echo 'import sys; sys.exit(7)' | answer seven.py
verifier starts.py <<'E'
import json, subprocess, sys
def main():
    try:
        subprocess.run([sys.executable, sys.argv[1]], check=True)
        good = False
    except subprocess.CalledProcessError as e:
        good = e.returncode == 7
    print(json.dumps({"score": float(good), "passed": good}))
if __name__ == "__main__":
    main()
E
run starts.py seven.py
gives "$full" "its status is the answer's"
done_testing
