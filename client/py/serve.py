"""Loads an answer's module, in the answer's own cell, and serves calls to it.

Requests come on descriptor 0, replies go to descriptor 3. All of this runs as
the answer and in its hands: what it says is data, and the other side takes it
for no more than that.
"""

import builtins
import functools
import importlib.machinery
import importlib.util
import inspect
import io
import os
import runpy
import struct
import sys
import textwrap
import traceback
import types

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bailiff_plain as plain  # noqa: E402
del sys.path[0]

TEXT_MAX = 8192
PRINTED_MAX = 512 << 10
PLAIN_METHODS = frozenset((
    "__init__", "__new__", "__repr__", "__str__", "__eq__", "__ne__",
    "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__post_init__",
    "__init_subclass__", "__class_getitem__", "__replace__", "__format__"))
LRU = functools._lru_cache_wrapper
FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)


@functools.lru_cache(4096)
def is_plain_class(cls):
    """Its objects are their attributes and nothing else."""
    if not cls.__flags__ & (1 << 9):    # made by a class statement
        return False
    for c in cls.__mro__[:-1]:
        for name, v in c.__dict__.items():
            if name in PLAIN_METHODS:
                continue
            if (isinstance(v, (types.FunctionType, staticmethod, classmethod,
                               property)) or name in plain.SPECIAL):
                return False
        if c.__module__ == "builtins":
            return False
    return True


def signature(f):
    try:
        got = []
        for p in inspect.signature(f).parameters.values():
            has = p.default is not p.empty
            simple = type(p.default) in (int, float, str, bool, type(None))
            got.append([p.name, int(p.kind), has, repr(p.default)[:200]
                        if has and simple else None])
        return got
    except Exception:
        return None


def line_of(f):
    code = getattr(inspect.unwrap(f), "__code__", None)
    return getattr(code, "co_firstlineno", None)


class Bounded(io.TextIOBase):
    """Standard output for all calls together. A program that writes more than
    --max-output is ended; a module may print as much in many calls."""

    def __init__(self, to):
        self.to, self.room = to, PRINTED_MAX

    def write(self, text):
        if len(text) <= self.room:
            self.room -= 4 * len(text)  # as bytes, at most
            self.to.write(text)
        return len(text)

    def flush(self):
        self.to.flush()

    def __getattr__(self, name):
        return getattr(self.to, name)


class Server:
    def __init__(self, requests, replies):
        self.requests, self.replies = requests, replies
        self.pid = os.getpid()
        self.module = None
        self.objects, self.numbers, self.told = [], {}, set()
        self.new = {}
        self.judge_classes, self.judge_names = {}, {}
        self.callbacks = {}
        self.loop = None

    # --- messages ---------------------------------------------------------

    def receive(self):
        head = self.exactly(4)
        return plain.unpack(self.exactly(struct.unpack("<I", head)[0]))

    def exactly(self, n):
        parts = []
        while n > 0:
            part = os.read(self.requests, min(n, 1 << 20))
            if not part:
                os._exit(0)     # the judge is done
            parts.append(part)
            n -= len(part)
        return b"".join(parts)

    def send(self, message):
        if os.getpid() != self.pid:
            os._exit(0)         # a child that came back here
        if self.new:
            message["new"], self.new = self.new, {}
        data = plain.pack(message)
        while data:
            data = data[os.write(self.replies, data):]

    # --- what has no plain form -------------------------------------------

    def handle(self, v):
        number = self.numbers.get(id(v))
        if number is None:
            number = self.numbers[id(v)] = len(self.objects)
            self.objects.append(v)      # alive from now on
        if number not in self.told:
            self.told.add(number)
            self.new[str(number)] = self.describe(v)
        return ["h", number]

    def path_of(self, v):
        """Where the module has it, so that it can be found there again."""
        path = getattr(v, "__qualname__", None)
        if not isinstance(path, str) or self.module is None:
            return None
        at = self.module
        for name in path.split("."):
            at = getattr(at, "__dict__", {}).get(name)
        return path.split(".") if at is v else None

    def describe(self, v):
        if isinstance(v, type):
            return self.describe_class(v)
        if isinstance(v, FUNCTIONS) or (callable(v) and
                                        hasattr(v, "__wrapped__")):
            return {**self.describe_function(v), "k": "f",
                    "path": self.path_of(v)}
        cls = type(v)
        if cls.__flags__ & (1 << 9) and cls.__module__ != "builtins":
            return {"k": "o", "cls": self.handle(cls)}
        return {"k": "o", "type": cls.__name__,
                "sp": sorted(plain.SPECIAL & set(dir(cls)))}

    def describe_function(self, f):
        return {"name": str(getattr(f, "__name__", "call")),
                "qualname": str(getattr(f, "__qualname__", "call")),
                "doc": f.__doc__ if isinstance(f.__doc__, str) else None,
                "co": inspect.iscoroutinefunction(f),
                "cache": isinstance(f, LRU),
                "sig": signature(f), "line": line_of(f)}

    def describe_class(self, cls):
        own = {}
        for name, v in cls.__dict__.items():
            kind = ("s" if isinstance(v, staticmethod) else
                    "c" if isinstance(v, classmethod) else
                    "p" if isinstance(v, property) else
                    "f" if isinstance(v, types.FunctionType) else
                    "f" if callable(v) and hasattr(v, "__wrapped__") else None)
            if kind == "p":
                own[name] = {"k": kind}
            elif kind is not None:
                own[name] = {**self.describe_function(
                    v.__func__ if kind in "sc" else v), "k": kind}
            elif name in plain.SPECIAL and callable(v):
                own[name] = {"k": "f"}
        bases = [self.handle(b) if b.__flags__ & (1 << 9) else
                 ["x", b.__name__] for b in cls.__bases__ if b is not object]
        return {"k": "c", "name": cls.__name__, "qualname": cls.__qualname__,
                "doc": cls.__doc__ if isinstance(cls.__doc__, str) else None,
                "path": self.path_of(cls), "own": own, "bases": bases,
                "exc": issubclass(cls, BaseException)}

    def other(self, v):
        callback = getattr(v, "_bailiff_callback", None)
        if type(callback) is int:
            return ["k", callback]
        cls = type(v)
        name = self.judge_names.get(cls)
        if name is not None:
            return name, plain.attributes(v)
        if is_plain_class(cls):
            return self.handle(cls), plain.attributes(v)
        return self.handle(v)

    def read_other(self, a):
        if a[0] == "h":
            return self.objects[a[1]]
        if a[0] == "a":
            at = self.module
            for name in a[1]:
                at = getattr(at, name)
            return at
        if a[0] == "k":
            return self.callback(a[1])
        if a[0] == "G":
            return self.iterator(self.callback(a[1]))
        if a[0] == "J":
            return self.judge_class(a[1], a[2])
        raise plain.NotPlain("a message that is none")

    def judge_class(self, name, source=None):
        cls = self.judge_classes.get(name)
        if cls is None or source:
            space = {"__name__": "judge"}
            try:
                exec(textwrap.dedent(source or ""), space)
            except Exception:
                pass            # it needs more than itself: attributes do
            cls = space.get(name)
            if not isinstance(cls, type):
                cls = type(name, (), {"__module__": "judge"})
            self.judge_classes[name] = cls
            self.judge_names[cls] = name
        return cls

    def shell(self, name):
        cls = (self.judge_class(name) if isinstance(name, str) else
               self.read_other(name))
        return object.__new__(cls)

    @staticmethod
    def fill(v, got):
        for name, value in got.items():
            object.__setattr__(v, name, value)

    def callback(self, number):
        known = self.callbacks.get(number)
        if known is None:
            def known(*args, **kwargs):
                enc = plain.Encoder(self.other)
                message = {"cb": number, "a": [enc.atom(x) for x in args],
                           "k": {k: enc.atom(x) for k, x in kwargs.items()}}
                message["t"] = enc.table()
                self.send(message)
                return self.returned()
            known._bailiff_callback = number
            self.callbacks[number] = known
        return known

    @staticmethod
    def iterator(following):
        while True:
            try:
                v = following()
            except StopIteration:
                return
            yield v

    def returned(self):
        """What the judge's function returned; it may have called us."""
        while True:
            m = self.receive()
            if "op" in m:
                self.answer(m)
                continue
            dec = plain.Decoder(m["t"], self.read_other, self.shell,
                                self.fill, careful=False)
            if "e" in m:
                kind = getattr(builtins, m["e"], RuntimeError)
                if not (isinstance(kind, type) and
                        issubclass(kind, BaseException)):
                    kind = RuntimeError
                try:
                    e = kind(m["text"])
                except TypeError:
                    e = RuntimeError(m["text"])
                e._bailiff_raised = m["raised"]
                raise e
            return dec.value(m["v"])

    # --- requests ---------------------------------------------------------

    def load(self, m):
        path, name = m["path"], m["name"]
        sys.path[0:0] = [os.path.dirname(os.path.abspath(path))]
        sys.argv = [path]
        loader = importlib.machinery.SourceFileLoader(name, path)
        spec = importlib.util.spec_from_file_location(
            name, path, loader=loader,
            submodule_search_locations=m.get("search"))
        self.module = importlib.util.module_from_spec(spec)
        sys.modules[name] = self.module
        for above in m.get("above", []):
            importlib.import_module(above)
        loader.exec_module(self.module)
        return self.names()

    def names(self):
        got = {}
        for name, v in list(vars(self.module).items()):
            if name.startswith("__") and name.endswith("__"):
                if name != "__doc__":
                    continue
            got[name] = (self.handle(v) if isinstance(v, type) or
                         isinstance(v, FUNCTIONS) or
                         hasattr(v, "__wrapped__") else None)
        return got

    def run(self, m):
        sys.argv = m["argv"]
        got = runpy.run_path(m["path"], run_name=m["name"])
        self.module = types.ModuleType(m["name"])
        self.module.__dict__.update(got)
        return {k: v for k, v in got.items() if not k.startswith("__")}

    def perform(self, m, value):
        op = m["op"]
        if op == "load":
            return None
        if op == "run":
            return self.run(m)
        target = value(m["o"]) if m.get("o") is not None else self.module
        if op == "get":
            return getattr(target, m["name"])
        if op == "set":
            return setattr(target, m["name"], value(m["v"]))
        if op == "del":
            return delattr(target, m["name"])
        if op == "await":
            return self.awaited(target)
        args = [value(a) for a in m["a"]]
        kwargs = {k: value(a) for k, a in m["k"].items()}
        if op == "special":
            return getattr(type(target), m["name"])(target, *args)
        if op == "method":
            return getattr(target, m["name"])(*args, **kwargs)
        return target(*args, **kwargs)

    def awaited(self, coroutine):
        """All by one loop: what the answer keeps may belong to it."""
        if self.loop is None:
            import asyncio
            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        return self.loop.run_until_complete(coroutine)

    def answer(self, m):
        reply = {"n": m["n"]}
        kept, typed, asks = sys.stdout, sys.stdin, builtins.input
        if "input" in m:
            builtins.input = self.callback(m["input"])
        if "deep" in m:
            sys.setrecursionlimit(m["deep"])
        text = sys.stdout = io.StringIO() if m.get("cap") else kept
        if "in" in m:
            sys.stdin = io.StringIO(m["in"])
        for name, source in m.get("jc", {}).items():
            self.judge_class(name, source)
        dec = enc = None
        try:
            dec = plain.Decoder(m.get("t", []), self.read_other, self.shell,
                                self.fill, careful=False)
            first = max(dec.entries, default=-1) + 1
            enc = plain.Encoder(self.other, {id(v): n for n, v in
                                             dec.made.items()}, first)
            if m["op"] == "load":
                reply["names"] = self.load(m)
            reply["v"] = enc.atom(self.perform(m, dec.value))
        except plain.NotPlain as e:
            reply["plain"] = str(e)
        except BaseException as e:      # SystemExit is data as well
            reply["e"] = self.failure(e)
        if "in" in m:
            try:
                reply["used"] = sys.stdin.tell()
            except Exception:
                pass
            sys.stdin = typed
        builtins.input = asks
        if sys.stdout is text:
            sys.stdout = kept
        if text is not kept:
            reply["out"] = text.getvalue()[:1 << 20]
        try:
            if enc is not None:
                reply["t"] = self.changes(dec, enc)
            self.flush()
            self.send(reply)
        except (plain.NotPlain, RecursionError, MemoryError,
                RuntimeError, ValueError) as e:
            self.send({"n": m["n"], "plain": str(e)})

    def changes(self, dec, enc):
        for number, v in dec.made.items():
            tag = dec.entries[number][0]
            if tag in ("l", "d", "O", "C", "s", "q", "y"):
                enc.again(v, number)
            elif tag == "o":
                enc.again(v, number, (dec.entries[number][1],
                                      plain.attributes(v)))
        return [[number, entry] for number, entry in enc.table()
                if dec.entries.get(number) != entry]

    @staticmethod
    def flush():
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass

    def failure(self, e):
        cls = type(e)
        try:
            text = str(e)[:TEXT_MAX]
        except BaseException:
            text = ""
        try:
            trace = traceback.format_exc(limit=-20)[-TEXT_MAX:]
        except BaseException:
            trace = ""
        try:
            args = list(e.args)
            enc = plain.Encoder(self.other)
            args = [enc.atom(a) if type(a) in (int, str, float, bool,
                                               type(None)) else
                    str(a)[:TEXT_MAX] for a in args]
        except BaseException:
            args = [text]
        own = cls.__module__ == getattr(self.module, "__name__", None)
        self.flush()
        return {"type": cls.__name__, "text": text, "trace": trace,
                "args": args, "cls": self.handle(cls) if own else None,
                "raised": getattr(e, "_bailiff_raised", None),
                "attrs": {n: v for n, v in list(getattr(
                    e, "__dict__", {}).items())[:100] if type(v) in
                    (int, str, float, bool, type(None)) and
                    (type(v) is not float or v == v and abs(v) < 1e308)},
                "bases": [c.__name__ if c.__module__ == "builtins" else
                          f"{c.__module__}.{c.__name__}" for c in cls.__mro__
                          if c.__module__ in sys.modules]}

    def serve(self):
        sys.stdout = Bounded(sys.stdout)
        while True:
            self.answer(self.receive())


def main():
    requests, replies = os.dup(0), os.dup(3)
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.close(3)
    Server(requests, replies).serve()


if __name__ == "__main__":
    main()
