"""Plain data between a judge and an answer: written out once, never code.

A message is a length and a JSON object. A value in it is null, a boolean, a
number or a string as it is; anything else is a list that starts with a tag:

  ["i", hex]  an integer that JSON readers may not take
  ["f", name] nan, inf, -inf           ["c", re, im]   a complex number
  ["b", b64]  bytes                    ["r", a, b, c]  a range ("S": slice)
  ["D", text] a Decimal                ["F", n, d]     a Fraction, n and d values
  ["e"]       Ellipsis                 ["x", name]     a builtin, by its name
  ["T", kind, values...]  of the types in KINDS: dates and times, UUIDs, paths
  ["@", i]    entry i of the table: what can be shared, changed, or hold itself
  others      by the two hooks: what lives on one side alone

Entries of the table are ["l", items], ["t", items], ["s", items],
["z", items] (frozen), ["q", items] (deque), ["d", key, value, key, ...]
(also "O", ordered, and "C", a Counter),
["y", b64] (bytearray), ["n", name, fields, items] (named tuple), and
["o", class, name, value, name, ...]: an object, by its attributes alone.
"""

import base64
import builtins
import collections
import datetime
import decimal
import fractions
import gc
import json
import math
import pathlib
import struct
import time
import uuid

MESSAGE_MAX = 8 << 20       # bytes of one message
DEPTH_MAX = 400             # containers within containers, objects apart
EXPANDED_MAX = 64 << 20     # bytes, each value counted wherever it is shown
RANGES_MAX = 8 << 20        # numbers in all ranges of one message
SAME_HASH_MAX = 32          # keys of one container
TUPLES_HASH_MAX = 256       # of all that could be keys
NAMED_MAX = 200             # types of named tuples
EXPONENT_MAX = 10000
INT_BITS_MAX = 1 << 17      # an integer that can still be printed
HEX_MAX = 1 << 20           # digits of all such in one message
SAFE_INT = 1 << 62
TYPES = frozenset(("bool", "bytearray", "bytes", "complex", "dict", "float",
                   "frozenset", "int", "list", "object", "range", "set", "str",
                   "tuple"))

# exact types that are values: how they are taken apart, and made again
KINDS = {
    datetime.datetime: ("datetime", lambda v: [v.isoformat(), v.fold],
                        lambda s, fold: datetime.datetime.fromisoformat(
                            s).replace(fold=fold)),
    datetime.date: ("date", lambda v: [v.isoformat()],
                    datetime.date.fromisoformat),
    datetime.time: ("time", lambda v: [v.isoformat()],
                    datetime.time.fromisoformat),
    datetime.timedelta: ("timedelta", lambda v: [v.days, v.seconds,
                                                 v.microseconds],
                         datetime.timedelta),
    uuid.UUID: ("uuid", lambda v: [v.hex], uuid.UUID),
    pathlib.PosixPath: ("path", lambda v: [str(v)], pathlib.Path),
    pathlib.PurePosixPath: ("purepath", lambda v: [str(v)],
                            pathlib.PurePosixPath),
}
_makers = {kind: make for kind, _, make in KINDS.values()}

# what an object may have for operators and the like
SPECIAL = frozenset((
    "__len__", "__getitem__", "__setitem__", "__delitem__", "__contains__",
    "__iter__", "__next__", "__reversed__", "__call__", "__enter__",
    "__exit__", "__str__", "__repr__", "__int__", "__float__", "__index__",
    "__complex__", "__round__", "__abs__", "__neg__", "__pos__", "__invert__",
    "__add__", "__sub__", "__mul__", "__truediv__", "__floordiv__", "__mod__",
    "__divmod__", "__pow__", "__matmul__", "__and__", "__or__", "__xor__",
    "__lshift__", "__rshift__", "__radd__", "__rsub__", "__rmul__",
    "__rtruediv__", "__rfloordiv__", "__rmod__", "__rpow__", "__rand__",
    "__ror__", "__rxor__", "__iadd__", "__isub__", "__imul__", "__eq__",
    "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__bool__"))

_dumps = json.JSONEncoder(ensure_ascii=True, allow_nan=False,
                          separators=(",", ":"), check_circular=False).encode


def _integer(text):
    """Longer ones come as hex: this would take too long."""
    if len(text) > 40:
        raise ValueError
    return int(text)


_loads = json.JSONDecoder(strict=False, parse_int=_integer).decode
_DICTS = {collections.OrderedDict: "O", collections.Counter: "C"}
_ITEMS = {"l": list, "t": tuple, "s": set, "z": frozenset,
          "q": collections.deque}


class As(Exception):
    """By the hook: the value goes as args[0], which is plain."""


class NotPlain(Exception):
    """A value that has no plain form, or a message that is none."""


class Encoder:
    """Writes values out. other(value) says what a value is that has no form
    here: an atom (a list), or (class name, attributes) for an object."""

    def __init__(self, other, index=None, first=0):
        self.other = other
        self.index = {} if index is None else index  # id: number
        self.next = first
        self.alive = []     # ids are unique only while objects live
        self.work = []

    def atom(self, v):
        t = type(v)
        if v is None or t is str or t is bool:
            return v
        if t is int:
            return v if -SAFE_INT < v < SAFE_INT else ["i", hex(v)]
        if t is float:
            return v if math.isfinite(v) else ["f", repr(v)]
        number = self.index.get(id(v))
        if number is not None:
            return ["@", number]
        if isinstance(v, (list, tuple, dict, set, frozenset, bytearray,
                          collections.deque)):
            return self.enter(v, None)
        return self.scalar(v)

    def enter(self, v, attributes):
        number = self.index[id(v)] = self.next
        self.next += 1
        self.alive.append(v)
        self.work.append((number, v, attributes))
        return ["@", number]

    def scalar(self, v):
        """Subclasses are their base's value: no method of theirs is asked."""
        if isinstance(v, int):
            return self.atom(int.__int__(v))
        if isinstance(v, str):
            return str.__str__(v)
        if isinstance(v, float):
            return self.atom(float.__float__(v))
        if isinstance(v, bytes):
            return ["b", base64.b64encode(v).decode()]
        if isinstance(v, complex):
            return ["c", self.atom(v.real), self.atom(v.imag)]
        if v is ...:
            return ["e"]
        t = type(v)
        if t in KINDS and (t is not datetime.datetime and
                           t is not datetime.time or
                           type(v.tzinfo) in (type(None),
                                              datetime.timezone)):
            return ["T", KINDS[t][0], *KINDS[t][1](v)]
        if t is slice:
            return ["S", self.atom(v.start), self.atom(v.stop),
                    self.atom(v.step)]
        if t is range:
            return ["r", self.atom(v.start), self.atom(v.stop),
                    self.atom(v.step)]
        if t is decimal.Decimal:
            return ["D", str(v)]
        if t is fractions.Fraction:
            return ["F", self.atom(v.numerator), self.atom(v.denominator)]
        name = getattr(v, "__name__", None)
        if isinstance(name, str) and builtins.__dict__.get(name) is v:
            return ["x", name]
        try:
            got = self.other(v)
        except As as e:
            return self.atom(e.args[0])
        if isinstance(got, list):
            return got
        return self.enter(v, got)

    def entry(self, v, attributes):
        atom = self.atom
        if attributes is not None:
            out = ["o", attributes[0]]
            for name, value in attributes[1].items():
                out += [str.__str__(name), atom(value)]
            return out
        if isinstance(v, dict):
            out = [_DICTS.get(type(v), "d")]
            items = v.items() if out[0] == "O" else dict.items(v)
            for key, value in items:
                out += [atom(key), atom(value)]
            return out
        if isinstance(v, bytearray):
            return ["y", base64.b64encode(v).decode()]
        if isinstance(v, tuple):
            fields = getattr(type(v), "_fields", None)
            items = [atom(x) for x in tuple.__iter__(v)]
            if isinstance(fields, tuple) and len(fields) == len(items):
                return ["n", type(v).__name__, list(fields), items]
            return ["t", items]
        for tag, kind in _ITEMS.items():
            if isinstance(v, kind):
                return [tag, [atom(x) for x in kind.__iter__(v)]]
        raise NotPlain(f"{type(v).__name__} has no plain form")

    def again(self, v, number, attributes=None):
        """An object that the other side knows: as it is now."""
        self.work.append((number, v, attributes))

    def table(self):
        """What atom() came across, and what that holds: [number, entry]."""
        out = []
        with Quiet():
            while self.work:
                number, v, attributes = self.work.pop()
                out.append([number, self.entry(v, attributes)])
        return out


_slots = {}


def attributes(v):
    """An object's own, in __dict__ and slots."""
    cls = type(v)
    names = _slots.get(cls)
    if names is None:
        names = []
        for c in cls.__mro__:
            slots = c.__dict__.get("__slots__", ())
            names += [n for n in ((slots,) if isinstance(slots, str)
                                  else slots) if not n.startswith("__")]
        _slots[cls] = names
    own = getattr(v, "__dict__", None)
    if not names:
        return own or {}
    got = {n: getattr(v, n) for n in names if hasattr(v, n)}
    got.update(own or {})
    return got


def _need(good, what="a message that is none"):
    if not good:
        raise NotPlain(what)


_named_types = {}


def _named(name, fields):
    """Each is a class, which costs a hundred times what its values do."""
    made = _named_types.get((name, fields))
    if made is None:
        _need(len(_named_types) < NAMED_MAX, "too many named tuples")
        made = _named_types[name, fields] = collections.namedtuple(name, fields)
    return made


class Quiet:
    """Without the collector: many new objects, and no garbage among them."""

    def __enter__(self):
        self.was = gc.isenabled()
        gc.disable()

    def __exit__(self, *why):
        if self.was:
            gc.enable()


class Decoder:
    """Reads values. other(atom) reads an atom that has no form here;
    shell(class name) makes an object and fill(object, attributes) fills it;
    known: objects by number, which are changed in place. careful: what comes
    must not be able to end or to hold up whoever looks at it."""

    def __init__(self, table, other, shell, fill, known=None, careful=True,
                 until=None):
        self.other, self.shell, self.fill = other, shell, fill
        self.until = until
        self.careful = careful
        self.digits = self.ranges = 0
        self.hashes = {}
        self.made = dict(known or {})
        self.entries = {}
        _need(isinstance(table, list))
        for pair in table:
            _need(isinstance(pair, list) and len(pair) == 2 and
                  type(pair[0]) is int and isinstance(pair[1], list) and
                  len(pair[1]) > 0 and pair[0] not in self.entries and
                  self.formed(pair[1]))
            self.entries[pair[0]] = pair[1]
        with Quiet():
            if careful:
                self.bounded()
            self.build()
            if careful:
                for v in self.made.values():
                    if isinstance(v, (tuple, frozenset)):
                        self.apart(v)

    def apart(self, v):
        """v may become a key of the reader's: not one of many that have the
        same hash, for looking one up takes as long as there are such."""
        try:
            h = hash(v)
        except TypeError:
            return
        first = self.hashes.setdefault(h, v)
        if first is v:
            return
        if type(first) is not list:
            if first == v:
                return
            first = self.hashes[h] = [first]
        if v not in first:
            first.append(v)
            _need(len(first) <= TUPLES_HASH_MAX, "keys that collide")

    @staticmethod
    def formed(entry):
        tag = entry[0]
        if not isinstance(tag, str):
            return False
        if tag in _ITEMS:
            return len(entry) == 2 and isinstance(entry[1], list)
        if tag in ("d", "O", "C"):
            return len(entry) % 2 == 1
        if tag == "y":
            return len(entry) == 2 and isinstance(entry[1], str)
        if tag == "n":
            return len(entry) == 4 and isinstance(entry[3], list)
        return tag == "o" and len(entry) % 2 == 0

    def on_time(self):
        _need(self.until is None or time.monotonic() < self.until,
              "it takes too long to read")

    def weight(self, a, deep=8):
        """Bytes of an atom as it is shown, about."""
        if type(a) is str:
            return 8 + len(a)
        if type(a) is not list:
            return 8
        _need(deep > 0)
        return 8 + sum(self.weight(x, deep - 1) for x in a)

    def measure(self, v):
        """Of what is here already and was not changed: its size, and how
        deep it is."""
        done, stack = {}, [v]
        while stack:
            at = stack[-1]
            inner = () if not isinstance(at, (list, tuple, dict, set,
                                              frozenset, collections.deque)) \
                else [*dict.keys(at), *dict.values(at)] \
                if isinstance(at, dict) else at
            todo = [x for x in inner if id(x) not in done and isinstance(
                x, (list, tuple, dict, set, frozenset, collections.deque))]
            if todo and done.setdefault(id(at), None) is None and \
                    len(stack) <= DEPTH_MAX:
                self.on_time()
                done[id(at)] = (8, 0)   # should it hold itself
                stack += todo
                continue
            stack.pop()
            sizes = [done.get(id(x)) or (8 + len(x) if isinstance(
                x, (str, bytes)) else 8, 0) for x in inner]
            done[id(at)] = (8 + sum(s for s, _ in sizes),
                            1 + max((d for _, d in sizes), default=0))
        return done[id(v)]

    # Nothing of what is read may be too deep, or too large, to be printed,
    # compared or copied: that would end the reader and not the writer.
    def bounded(self):
        size, depth, busy = {}, {}, set()
        for root, entry in self.entries.items():
            if entry[0] == "o":
                continue
            stack = [root]
            while stack:
                number = stack[-1]
                if number in size:
                    stack.pop()
                    continue
                entry = self.entries.get(number)
                inner = [] if entry is None or entry[0] == "o" else [
                    a[1] for a in self.parts(entry)
                    if isinstance(a, list) and len(a) == 2 and a[0] == "@"]
                _need(all(type(i) is int for i in inner))
                if number not in busy:
                    busy.add(number)
                    todo = [i for i in inner if i not in size and
                            i in self.entries and self.entries[i][0] != "o"]
                    _need(not any(i in busy for i in todo),
                          "a container that holds itself")
                    if todo:
                        stack += todo
                        continue
                stack.pop()
                busy.discard(number)
                self.on_time()
                for i in inner:
                    if i not in size and i not in self.entries:
                        size[i], depth[i] = self.measure(self.made.get(i))
                size[number] = 8 + sum(size.get(i, 8) for i in inner) + sum(
                    self.weight(a)
                    for a in (() if entry is None else self.parts(entry)))
                depth[number] = 1 + max((depth.get(i, 0) for i in inner),
                                        default=0)
                _need(depth[number] <= DEPTH_MAX, "data nested too deeply")
                _need(size[number] <= EXPANDED_MAX, "too much data")
        hashed = sum(size.get(a[1], 8) for entry in self.entries.values()
                     for a in self.hashed(entry)
                     if isinstance(a, list) and len(a) == 2 and a[0] == "@")
        _need(hashed <= EXPANDED_MAX, "too much data")

    @staticmethod
    def hashed(entry):
        if entry[0] in ("d", "O", "C"):
            return entry[1::2]
        return Decoder.parts(entry) if entry[0] in ("s", "z") else ()

    @staticmethod
    def parts(entry):
        if entry[0] in ("d", "o", "O", "C"):
            return entry[1:]
        last = entry[-1]
        return last if isinstance(last, list) else []

    def build(self):
        hold = {}
        for number, entry in self.entries.items():
            tag = entry[0]
            if number in self.made:
                continue
            if tag == "l":
                self.made[number] = []
            elif tag in ("d", "O", "C"):
                self.made[number] = {
                    "d": dict, "O": collections.OrderedDict,
                    "C": collections.Counter}[tag]()
            elif tag == "s":
                self.made[number] = set()
            elif tag == "q":
                self.made[number] = collections.deque()
            elif tag == "y":
                self.made[number] = bytearray()
            elif tag == "o":
                _need(isinstance(entry[1], (str, list)))
                self.made[number] = self.shell(entry[1])
            else:
                _need(tag in ("t", "z", "n"))
                hold[number] = entry
        self.frozen(hold)
        for number, entry in self.entries.items():
            if number not in hold:
                self.pour(self.made[number], entry)

    def frozen(self, hold):
        """Tuples and their like: whole at once, inner ones first."""
        for root in hold:
            stack = [root]
            while stack:
                number = stack[-1]
                if number in self.made:
                    stack.pop()
                    continue
                entry = hold[number]
                todo = [a[1] for a in self.parts(entry)
                        if isinstance(a, list) and len(a) == 2 and
                        a[0] == "@" and a[1] in hold and
                        a[1] not in self.made]
                if todo:
                    stack += todo
                    continue
                stack.pop()
                self.made[number] = self.freeze(entry)

    def freeze(self, entry):
        self.on_time()
        items = [self.value(a) for a in self.parts(entry)]
        if entry[0] == "t":
            return tuple(items)
        if entry[0] == "z":
            return frozenset(self.keys(items))
        _need(len(entry) == 4 and isinstance(entry[2], list) and
              len(entry[2]) == len(items))
        try:
            return _named(entry[1], tuple(entry[2]))(*items)
        except (TypeError, ValueError):
            raise NotPlain("a named tuple that can't be") from None

    @staticmethod
    def keys(items):
        """Many different keys of one hash would keep the reader busy."""
        try:
            if len(items) > SAME_HASH_MAX:
                most = collections.Counter(map(hash, items)).most_common(1)
                _need(most[0][1] <= SAME_HASH_MAX, "keys that collide")
        except TypeError:
            raise NotPlain("a key that can't be one") from None
        return items

    def pour(self, to, entry):
        self.on_time()
        tag = entry[0]
        try:
            if tag == "l":
                _need(type(entry[1]) is list)
                list.__setitem__(to, slice(None),
                                 [self.value(a) for a in entry[1]])
            elif tag in ("d", "O", "C"):
                got = [self.value(a) for a in entry[1:]]
                _need(len(got) % 2 == 0)
                keys = self.keys(got[::2])
                if type(to) is collections.OrderedDict:
                    to.clear()
                    to.update(zip(keys, got[1::2]))
                else:
                    dict.clear(to)
                    dict.update(to, zip(keys, got[1::2]))
            elif tag == "s":
                keys = self.keys([self.value(a) for a in entry[1]])
                set.clear(to)
                set.update(to, keys)
            elif tag == "q":
                to.clear()
                to.extend(self.value(a) for a in entry[1])
            elif tag == "y":
                to[:] = base64.b64decode(entry[1], validate=True)
            elif tag == "o":
                _need(len(entry) % 2 == 0)
                value = self.value
                got = {n: value(a) for n, a in zip(entry[2::2], entry[3::2])}
                _need(all(type(n) is str for n in got))
                self.fill(to, got)
        except (TypeError, ValueError) as e:
            raise NotPlain(f"data that can't be: {e}") from None

    def value(self, a):
        if type(a) is not list:
            if type(a) is int or a is None:
                return a
            _need(type(a) is not dict)
            if self.careful and type(a) is str and not a.isascii():
                try:
                    a.encode()
                except UnicodeEncodeError:
                    raise NotPlain("a string that is no text") from None
            return a
        try:
            return self.tagged(a)
        except (TypeError, ValueError, LookupError, ArithmeticError) as e:
            raise NotPlain(f"data that can't be: {e}") from None

    def tagged(self, a):
        tag = a[0]
        if tag == "@":
            _need(len(a) == 2)
            try:
                return self.made[a[1]]
            except KeyError:
                raise NotPlain("a message that is none") from None
        if tag == "i":
            _need(isinstance(a[1], str))
            self.digits += len(a[1])
            _need(not self.careful or (len(a[1]) < INT_BITS_MAX // 4 and
                                       self.digits <= HEX_MAX),
                  "an integer that is too large")
            got = int(a[1], 16)
            if self.careful:
                self.apart(got)
            return got
        if tag == "f":
            _need(a[1] in ("nan", "inf", "-inf"))
            return float(a[1])
        if tag == "b":
            return base64.b64decode(a[1], validate=True)
        if tag == "c":
            return complex(self.value(a[1]), self.value(a[2]))
        if tag == "r":
            got = range(*(self.value(x) for x in a[1:4]))
            self.ranges += len(got)
            _need(not self.careful or self.ranges <= RANGES_MAX,
                  "too long a range")
            return got
        if tag == "S":
            return slice(*(self.value(x) for x in a[1:4]))
        if tag == "D":
            _need(isinstance(a[1], str) and len(a[1]) < 10000)
            got = decimal.Decimal(a[1])
            _need(not self.careful or not got.is_snan() and (
                not got.is_finite() or abs(got.adjusted()) <= EXPONENT_MAX),
                "a Decimal that can't be worked with")
            if self.careful:
                self.apart(got)
            return got
        if tag == "F":
            parts = [self.value(x) for x in a[1:]]
            _need(len(parts) == 2 and all(type(x) is int for x in parts))
            got = fractions.Fraction(*parts)
            if self.careful:
                self.apart(got)
            return got
        if tag == "T":
            _need(all(type(x) in (str, int) and len(str(x)) < 10000
                      for x in a[2:]))
            return _makers[a[1]](*a[2:])
        if tag == "e":
            return ...
        if tag == "x":
            _need(isinstance(a[1], str) and a[1] in
                  (TYPES if self.careful else builtins.__dict__))
            return builtins.__dict__[a[1]]
        return self.other(a)


def pack(message):
    """Bytes of a message, its length before it."""
    text = _dumps(message).encode()
    if len(text) > MESSAGE_MAX:
        raise NotPlain("too much data")
    return struct.pack("<I", len(text)) + text


def unpack(text):
    """The message in text, which is all of it but the length."""
    try:
        with Quiet():
            got = _loads(text.decode())
    except (ValueError, RecursionError, MemoryError):
        raise NotPlain("a message that is none") from None
    _need(type(got) is dict)
    return got
