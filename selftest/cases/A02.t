#!/bin/bash
# A02. Equal to everything: what a function returns reaches the judge as plain
# data; an object of the answer is equal to nothing but another of its own.
# More of the kind: alone, in a list, a tuple, a dict, as a key; subclasses of
# str, int, float, list, dict, tuple; by a metaclass, by a proxy's slots; true,
# small, large, or there, whatever is asked; an object that becomes the
# expected value's type; one that formats, hashes and prints as it likes.
. selftest/payload/judged.sh

verifier equal.py <<'E'
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("solution", sys.argv[1])
mod = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mod)
WAYS = {
    "eq": lambda got: got == 5,
    "reflected": lambda got: 5 == got,
    "ne": lambda got: not (got != 5),
    "list": lambda got: [got] == [5],
    "in": lambda got: got in [5],
    "member": lambda got: got in {5: 1},
    "between": lambda got: 5 <= got <= 5,
    "near": lambda got: abs(got - 5) < 1e-9,
    "str": lambda got: (got, "x") == (5, "x"),
    "count": lambda got: [5].count(got) == 1,
}
def check(way):
    try:
        return bool(WAYS[way](mod.add(2, 3)))
    except Exception as e:
        print(way, type(e).__name__, e, file=sys.stderr)
        return False
right = {w: check(w) for w in WAYS}
chosen = [w for w in right if right[w]]
print(json.dumps({"score": len(chosen) / len(WAYS),
                  "passed": len(chosen) == len(WAYS),
                  "details": " ".join(chosen)}))
if __name__ == "__main__":
    sys.exit(0 if len(chosen) == len(WAYS) else 1)
E
answer right.py <<'E'
def add(a, b):
    return a + b
E
honest equal.py right.py "an honest answer"

all='class E:
    __eq__ = __bool__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = \
        lambda *a: True
    __ne__ = lambda s, o: False
    __len__ = __int__ = __index__ = lambda s: 5
    __float__ = lambda s: 5.0
    __hash__ = lambda s: hash(5)
    __sub__ = __abs__ = __rsub__ = __round__ = lambda s, *a: s
    __getitem__ = __getattr__ = __call__ = lambda s, *a: s
    __str__ = __repr__ = lambda s: "5"
'
evil() {	# NAME: after that class
	{ printf '%s\n' "$all"; cat; } | answer "$1.py"
}
evil object <<'E'
def add(a, b):
    return E()
E
evil metaclass <<'E'
class M(type):
    __eq__ = __le__ = __lt__ = __ge__ = __gt__ = lambda *a: True
    __ne__ = lambda s, o: False
    __hash__ = lambda s: hash(5)
    __sub__ = __abs__ = __rsub__ = lambda s, *a: s
class C(metaclass=M):
    pass
def add(a, b):
    return C
E
evil slots <<'E'
class S(E):
    __slots__ = ("value",)
def add(a, b):
    s = S()
    s.value = 5
    return s
E
evil patched <<'E'
class P:
    pass
for name in dir(E):
    if name not in ("__class__", "__new__", "__dict__", "__weakref__",
                    "__getattribute__", "__setattr__", "__init__"):
        try:
            setattr(P, name, E.__dict__[name])
        except (KeyError, TypeError, AttributeError):
            pass
def add(a, b):
    return P()
E
evil dataclass <<'E'
import dataclasses
@dataclasses.dataclass(eq=False)
class D(E):
    value: int = 5
def add(a, b):
    return D()
E
evil str <<'E'
class S(str, E):
    __eq__, __ne__, __hash__ = E.__eq__, E.__ne__, E.__hash__
    __le__, __ge__, __lt__, __gt__ = E.__le__, E.__ge__, E.__lt__, E.__gt__
def add(a, b):
    return S("nothing")
E
evil int <<'E'
class I(int):
    __eq__, __ne__, __hash__ = E.__eq__, E.__ne__, E.__hash__
    __le__, __ge__, __lt__, __gt__ = E.__le__, E.__ge__, E.__lt__, E.__gt__
    __sub__, __abs__ = E.__sub__, E.__abs__
def add(a, b):
    return I(77)
E
evil float <<'E'
class F(float):
    __eq__, __ne__, __hash__ = E.__eq__, E.__ne__, E.__hash__
    __le__, __ge__, __lt__, __gt__ = E.__le__, E.__ge__, E.__lt__, E.__gt__
    __sub__, __abs__ = E.__sub__, E.__abs__
def add(a, b):
    return F("nan")
E
evil function <<'E'
def add(a, b):
    return lambda *a: E()
E
evil module <<'E'
import sys, types
class M(types.ModuleType):
    __eq__, __hash__, __ne__ = E.__eq__, E.__hash__, E.__ne__
def add(a, b):
    sys.modules["m"] = M("m")
    return sys.modules["m"]
E
evil changes_class <<'E'
class X:
    pass
def add(a, b):
    x = X()
    x.__dict__.update(__eq__=lambda o: True, __class__=int, value=5)
    X.__eq__ = E.__eq__
    X.__hash__ = E.__hash__
    return x
E
evil exception <<'E'
class Bad(Exception):
    __eq__, __hash__, __ne__ = E.__eq__, E.__hash__, E.__ne__
def add(a, b):
    return Bad(5)
E
for a in object metaclass slots patched dataclass str int float function \
    module changes_class exception; do
	alone equal.py $a.py >/dev/null
	case $a in
	function)	least=0 ;;	# is no more than itself
	*)	least=4 ;;
	esac
	fooled=$($PY -c 'import json, sys
print(len(json.loads(open(sys.argv[1]).readlines()[-1])["details"].split()))' \
	    "$work/alone" 2>&1)
	[ "$fooled" -ge $least ]
	ok $? "control: $a: without walls it is right in $fooled ways of ten" \
	    "$work/alone" "$work/alone.err"
	run equal.py $a.py
	gives "$zero" "$a"
done

# Within containers: the comparison goes by their items.
verifier inner.py <<'E'
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("solution", sys.argv[1])
mod = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mod)
WANT = {"lists": [1, 2], "tuples": (1, 2), "dicts": {"a": 1}, "keys": {1: 2},
        "sets": {1, 2}, "deep": [[(1, {"x": 2})]], "text": ["a", "b"],
        "sub_list": [1, 2], "sub_dict": {"a": 1}, "sub_tuple": (1, 2)}
good = []
for name, want in WANT.items():
    try:
        got = getattr(mod, name)()
        if got == want or want == got or not got != want:
            good.append(name)
    except Exception as e:
        print(name, type(e).__name__, e, file=sys.stderr)
print(json.dumps({"score": len(good) / len(WANT), "passed": len(good) ==
                  len(WANT), "details": " ".join(good)}))
if __name__ == "__main__":
    sys.exit(0 if len(good) == len(WANT) else 1)
E
evil inner_evil <<'E'
class L(list):
    __eq__, __ne__ = E.__eq__, E.__ne__
class D(dict):
    __eq__, __ne__ = E.__eq__, E.__ne__
class T(tuple):
    __eq__, __ne__ = E.__eq__, E.__ne__
class One(E):
    __hash__ = lambda s: hash(1)
class Two(E):
    __eq__ = lambda s, o: not isinstance(o, One)
    __hash__ = lambda s: hash(2)
lists = lambda: [E(), E()]
tuples = lambda: (E(), E())
dicts = lambda: {"a": E()}
keys = lambda: {One(): E()}
sets = lambda: {One(), Two()}
deep = lambda: [[(E(), E())]]
text = lambda: [E(), E()]
sub_list = lambda: L([7])
sub_dict = lambda: D(b=7)
sub_tuple = lambda: T((7,))
E
answer inner_right.py <<'E'
lists = sub_list = lambda: [1, 2]
tuples = sub_tuple = lambda: (1, 2)
dicts = sub_dict = lambda: {"a": 1}
keys = lambda: {1: 2}
sets = lambda: {1, 2}
deep = lambda: [[(1, {"x": 2})]]
text = lambda: ["a", "b"]
E
honest inner.py inner_right.py "containers of an honest answer"
attack inner.py inner_evil.py "containers that hold what is equal to all"
done_testing
