"""For judges: run the answer's programs, and call its functions, from outside.

run() runs one command as the answer and returns what it wrote and how it
ended. load() loads the answer's module over there and returns a stand-in for
it: calls cross as plain data, nothing of the answer runs in this process.
"""

import ast
import builtins
import collections.abc as abc
import functools
import inspect
import io
import json
import os
import select
import struct
import subprocess
import sys
import threading
import time
import types
import weakref

import bailiff_plain as plain

__all__ = ["run", "run_many", "load", "Result", "AnswerError", "AnswerEnded",
           "AnswerTimeout"]

SERVE = "/run/serve/serve.py"
# "" but where cells have no file tree of their own (--way plain)
_root = os.path.dirname(os.path.abspath(__file__))[:-len("/run/bailiff/py")]
FAR = 1 << 30
STARTS_MAX = 300
DEPTH_MAX = 50      # calls within calls
MEMBERS_MAX = 20000     # of all classes of an answer
SIGNATURE_MAX = 200
_Popen = subprocess.Popen
_own_stdin, _own_stdout = sys.stdin, sys.stdout
_input, _recursion = input, sys.getrecursionlimit()
_received = [0]     # bytes from answers
_default = {"timeout": 30.0}
_child = [False]    # a program of the verifier's: its streams are the answer's
_modules = set()    # names of the answer's that were loaded


class AnswerError(Exception):
    """The answer failed: it raised something, or did not keep to plain data.

    type_name and trace are its own words. What it raised is a subclass of
    this and of the builtin exception that the answer's was one of."""

    type_name, trace, text = "AnswerError", "", None

    def __str__(self):
        return super().__str__() if self.text is None else self.text


class AnswerEnded(AnswerError):
    """The answer's process has ended instead of returning."""


class AnswerTimeout(AnswerEnded, TimeoutError):
    """A call took too long."""


class GivenError(Exception):
    """What a verifier gives to the answer has no plain form. No TypeError: a
    verifier that expects one is not to take this for the answer's."""


class _Raised(Exception):
    """Around what a function of the judge's raised when the answer called
    it."""


class AnswerAttributeError(AnswerError, AttributeError):
    """The answer has no such name."""


class Result:
    """returncode is 124, 126, 127 or 128 + n as a shell has it; limit is None,
    or which limit ended the answer; fact holds all that is known."""

    def __init__(self, args, returncode, stdout, stderr, fact):
        self.args, self.returncode = args, returncode
        self.stdout, self.stderr = stdout, stderr
        self.fact = fact
        self.limit = fact.get("limit")

    def __repr__(self):
        return (f"Result({self.args!r}, returncode={self.returncode}, "
                f"limit={self.limit!r})")


def _unknown(fact):
    """Nothing became of the answer: 125 is BAILIFF_ANSWER's own word then."""
    return fact.get("exit_code") is None and fact.get("signal") is None and \
        fact.get("limit") in (None, "start")


def _program():
    try:
        return os.environ["BAILIFF_ANSWER"]
    except KeyError:
        raise RuntimeError("BAILIFF_ANSWER is not set: this is no judge that "
                           "bailiff runs") from None


def _is_memory(stream):
    """The verifier collects what is printed, and it goes nowhere else."""
    return isinstance(stream, io.StringIO) or (
        isinstance(stream, io.TextIOWrapper) and
        isinstance(stream.buffer, io.BytesIO))


class _Fact:
    """Where BAILIFF_ANSWER writes what became of the answer."""

    def __init__(self):
        self.fd = os.memfd_create("fact", 0)
        self.err = os.memfd_create("stderr")    # its own, and the answer's
        self.error = ""
        self.env = dict(os.environ, BAILIFF_FACT_FD=str(self.fd))

    def take(self):
        try:
            text = os.pread(self.fd, min(os.fstat(self.fd).st_size,
                                         16 << 20), 0)
            return json.loads(text) if text else {}
        except ValueError:
            return {}
        finally:
            self.error = os.pread(self.err, 4096, 0).decode(
                errors="replace").strip()
            os.close(self.fd)
            os.close(self.err)


def run(argv, input=None, timeout=None, memory=None, text=None, fresh=False):
    """Runs argv as the answer, in its cell, and waits for its end.

    input: bytes or text; text (the default when input is a str): streams as
    str. timeout: seconds; memory: bytes. fresh: in a cell of its own."""
    args = [str(a) for a in ([argv] if isinstance(argv, str) else argv)]
    command = [_program()]
    if timeout is not None:
        command += ["-t", f"{max(timeout, 0.001):.3f}"]
    if memory is not None:
        command += ["-m", str(int(memory))]
    if fresh:
        command.append("--fresh")
    if text is None:
        text = isinstance(input, str)
    if isinstance(input, str):
        input = input.encode()
    fact = _Fact()
    try:
        with _Popen(command + ["--"] + args, stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    pass_fds=(fact.fd,), env=fact.env) as p:
            out, err = p.communicate(input or b"")
    finally:
        told = fact.take()
    if p.returncode == 125 and _unknown(told):
        raise RuntimeError("the answer could not be run: " +
                           err.decode(errors="replace").strip())
    if text:
        out, err = (s.decode(errors="replace") for s in (out, err))
    return Result(args, p.returncode, out, err, told)


def run_many(jobs, workers=None):
    """Runs many at once, each in a fresh cell: a list of dicts of run()'s
    arguments, or of argument lists; returns their results in that order."""
    from concurrent.futures import ThreadPoolExecutor
    jobs = [dict(j) if isinstance(j, dict) else {"argv": j} for j in jobs]
    for job in jobs:
        job["fresh"] = True
    with ThreadPoolExecutor(workers or os.cpu_count() or 2) as pool:
        return list(pool.map(lambda job: run(**job), jobs))


# --- one answer's process ----------------------------------------------------

class _Answer:
    """The process that has the answer's module; started anew when it ended."""

    def __init__(self, request, timeout):
        self.request, self.timeout = request, timeout
        self.lock = threading.RLock()
        self.process = None
        self.generation = 0
        self.depth = 0          # of calls within calls
        self.number = int.from_bytes(os.urandom(4), "little")
        self.over = False       # the answers' time is
        self.judge_classes, self.callbacks, self.raised = {}, {}, {}
        self.raises = self.members_made = 0
        self.classes = {}       # path: stand-in, for good
        self.forget()

    def forget(self):
        self.described, self.proxies, self.making = {}, {}, set()
        self.told, self.untold, self.asked = set(), [], set()
        self.instances = weakref.WeakValueDictionary()

    # its life

    def start(self):
        if self.over or self.generation >= STARTS_MAX:
            raise AnswerEnded("the answer's process has ended once too often")
        self.generation += 1
        self.forget()
        inner, mine = os.pipe()
        got, outer = os.pipe()
        self.fact = _Fact()
        self.process = _Popen(
            [_program(), "--fresh", "--channel", f"{inner},{outer}", "--",
             "python3", SERVE], stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, stderr=self.fact.err,
            pass_fds=(inner, outer, self.fact.fd), env=self.fact.env)
        os.close(inner)
        os.close(outer)
        self.pid = os.getpid()
        self.to, self.back, self.held = mine, got, bytearray()
        os.set_blocking(mine, False)
        os.set_blocking(got, False)

    def stop(self):
        """Ends it. What is known of its end."""
        process, self.process = self.process, None
        if process is None:
            return {}
        os.close(self.to)
        os.close(self.back)
        self.to = self.back = -1
        if self.pid != os.getpid():     # our parent's, and not ours to end
            return {}
        process.stdin.close()
        try:
            process.wait(4)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self.status = process.returncode
        return self.fact.take()

    def lost(self):
        fact = self.stop()
        if getattr(self, "status", 0) == 125 and _unknown(fact):
            return RuntimeError("the answer could not be run: " +
                                self.fact.error)
        if fact.get("limit") == "time" and fact.get("exit_code") is None and \
                fact.get("signal") is None:
            self.over = True
        how = (f"limit {fact['limit']}" if fact.get("limit") else
               f"signal {fact['signal']}" if fact.get("signal") else
               f"exit status {fact.get('exit_code')}")
        kind = (AnswerTimeout if fact.get("limit") == "time" else AnswerEnded)
        return kind(f"the answer's process has ended: {how}")

    # messages

    def wait(self, fd, events):
        left = self.until - time.monotonic()
        p = select.poll()
        p.register(fd, events)
        if left <= 0 or not p.poll(left * 1000):
            self.stop()
            raise AnswerTimeout(f"a call took longer than {self.timeout:g} s")

    def send(self, message):
        if self.process is None:
            raise AnswerEnded("the answer's process has ended")
        data = plain.pack(message)
        while data:
            try:
                data = data[os.write(self.to, data):]
            except BlockingIOError:
                self.wait(self.to, select.POLLOUT)
            except OSError:
                raise self.lost() from None

    def receive(self):
        while True:
            if self.process is None:
                raise AnswerEnded("the answer's process has ended")
            if len(self.held) >= 4:
                size = struct.unpack_from("<I", self.held)[0]
                if size > plain.MESSAGE_MAX:
                    self.stop()
                    raise AnswerError("returned no plain data: more than "
                                      "8 MiB, or no message at all")
                if len(self.held) >= 4 + size:
                    text = bytes(self.held[4:4 + size])
                    del self.held[:4 + size]
                    return plain.unpack(text)
            if time.monotonic() >= self.until:
                self.wait(self.back, select.POLLIN)
            try:
                part = os.read(self.back, 1 << 20)
            except BlockingIOError:
                self.wait(self.back, select.POLLIN)
                continue
            except OSError:
                part = b""
            if not part:
                raise self.lost()
            self.held += part
            _received[0] += len(part)

    def ask(self, message, values=(), names=None):
        """One request and all that comes of it; returns the reply's value."""
        with self.lock:
            if self.process is not None and self.pid != os.getpid():
                self.stop()
            outermost = self.depth == 0
            if outermost:
                self.until = time.monotonic() + self.timeout
                if self.process is None and message["op"] not in ("load",
                                                                  "run"):
                    self.open()
            if self.depth >= DEPTH_MAX:
                raise AnswerError("calls within calls, too many")
            self.depth += 1
            try:
                return self.exchange(message, values, names)
            except plain.NotPlain as e:
                self.stop()
                raise AnswerError(f"returned no plain data: {e}") from None
            except AnswerError:
                raise
            except _Raised as e:
                raise e.args[0] from None
            except BaseException:       # an alarm of the judge's own, say
                if outermost:
                    self.stop()
                raise
            finally:
                self.depth -= 1
                if outermost:
                    self.raised.clear()

    def exchange(self, message, values, names):
        enc = plain.Encoder(self.other)
        try:
            for key, v in values:
                message[key] = enc.atom(v)
            if names is not None:
                message["a"] = [enc.atom(v) for v in names[0]]
                message["k"] = {k: enc.atom(v) for k, v in names[1].items()}
            message["t"] = enc.table()
        except plain.NotPlain as e:
            raise GivenError(f"can't be given to the answer: {e}") from None
        self.number += 1
        number = message["n"] = self.number
        if _child[0] or _is_memory(sys.stdout):
            message["cap"] = True
        if builtins.input is not _input:
            message["input"] = self.callback(builtins.input)
        if sys.getrecursionlimit() != _recursion:
            message["deep"] = sys.getrecursionlimit()
        if sys.stdin is not None and not isinstance(sys.stdin, io.StringIO) \
                and (sys.stdin is not _own_stdin or
                     _child[0] and not sys.stdin.isatty()):
            sys.stdin = io.StringIO(sys.stdin.read())
        typed = sys.stdin if isinstance(sys.stdin, io.StringIO) else None
        if typed is not None:
            self.typed = typed.tell()
            message["in"] = typed.read()
        for cls in self.untold:
            message.setdefault("jc", {})[self.name_of(cls)] = \
                self.source_of(cls)
        self.untold.clear()
        self.send(message)
        while True:
            reply = self.receive()
            if "cb" in reply:
                self.called_back(reply)
                continue
            if reply.get("n") != number:
                self.stop()
                raise AnswerError("returned no plain data: it spoke out of "
                                  "turn")
            try:
                return self.take(reply, enc, message)
            except (AnswerError, plain.NotPlain, _Raised):
                raise
            except Exception as e:      # whatever a forged one can bring about
                raise plain.NotPlain(f"a message that is none "
                                     f"({type(e).__name__})") from None

    def take(self, reply, enc, message):
        if isinstance(reply.get("out"), str) and "cap" in message:
            sys.stdout.write(_text(reply["out"], 1 << 20))
        if "in" in message and type(reply.get("used")) is int:
            sys.stdin.seek(self.typed + min(max(reply["used"], 0),
                                            len(message["in"])))
        new = reply.get("new", {})
        if not isinstance(new, dict):
            raise plain.NotPlain("a message that is none")
        for key, d in new.items():
            if not (len(key) < 10 and key.isdecimal() and type(d) is dict):
                raise plain.NotPlain("a message that is none")
            self.described.setdefault(int(key), d)
        if "plain" in reply:
            raise AnswerError(f"returned no plain data: {reply['plain']}")
        known = {enc.index[id(v)]: v for v in enc.alive}
        dec = plain.Decoder(reply.get("t", []), self.read_other, self.shell,
                            self.fill, known, until=self.until)
        if "e" in reply:
            e = self.exception(reply["e"], dec, message)
            raise e if isinstance(e, AnswerError) else _Raised(e)
        if "names" in reply:
            return reply["names"]
        return dec.value(reply.get("v"))

    def called_back(self, m):
        known = self.callbacks.get(m["cb"]) if type(m["cb"]) is int else None
        if known is None or not isinstance(m.get("a"), list) or \
                not isinstance(m.get("k"), dict):
            raise plain.NotPlain("a message that is none")
        try:
            dec = plain.Decoder(m.get("t", []), self.read_other, self.shell,
                                self.fill, until=self.until)
            args = [dec.value(a) for a in m["a"]]
            kwargs = {k: dec.value(a) for k, a in m["k"].items()}
        except (AnswerError, plain.NotPlain):
            raise
        except Exception:
            raise plain.NotPlain("a message that is none") from None
        reply = {"t": []}
        try:
            enc = plain.Encoder(self.other)
            reply["v"] = enc.atom(known(*args, **kwargs))
            reply["t"] = enc.table()
        except plain.NotPlain as e:
            raise GivenError(f"can't be given to the answer: {e}") from None
        except Exception as e:
            self.raises += 1
            self.raised[self.raises] = e.with_traceback(None)
            reply = {"t": [], "e": type(e).__name__, "text": str(e)[:65536],
                     "raised": self.raises}
        self.send(reply)

    # what has no plain form

    def other(self, v):
        target = getattr(v, "__bailiff__", None) \
            if isinstance(v, (types.FunctionType, type)) else None
        if target is not None and target[0] is self:
            return self.reference(target)
        if isinstance(v, Remote):
            own = v._bailiff
            if own is not None:
                return self.reference(own)
            return self.reference(type(v).__bailiff__), {
                n: x for n, x in vars(v).items() if n != "_bailiff"}
        if isinstance(v, type):
            return ["J", self.name_of(v), self.source_of(v)]
        if isinstance(v, (abc.KeysView, abc.ValuesView, abc.ItemsView)):
            raise plain.As(list(v))
        if callable(v):
            return ["k", self.callback(v)]
        if hasattr(type(v), "__next__"):
            return ["G", self.callback(v.__next__)]
        if isinstance(v, types.ModuleType) or \
                type(v).__module__ == "builtins":
            raise plain.NotPlain(f"{type(v).__name__} has no plain form")
        cls = type(v)
        if not _is_judges(cls):
            raise plain.NotPlain(f"{cls.__name__} has no plain form")
        if cls not in self.told:
            self.told.add(cls)
            self.untold.append(cls)
        return self.name_of(cls), plain.attributes(v)

    def callback(self, function):
        for n, f in self.callbacks.items():
            if f is function:
                return n
        number = len(self.callbacks)
        self.callbacks[number] = function
        return number

    def reference(self, target):
        _, generation, number, path = target
        if path is not None:
            return ["a", path]
        if generation != self.generation:
            raise AnswerEnded("the object is gone: the answer's process has "
                              "ended")
        return ["h", number]

    def name_of(self, cls):
        name = cls.__name__
        while self.judge_classes.setdefault(name, cls) is not cls:
            name += "_"
        return name

    @staticmethod
    def source_of(cls):
        try:
            return inspect.getsource(cls)
        except (OSError, TypeError):
            return None

    def read_other(self, a):
        if a[0] == "h" and type(a[1]) is int:
            self.asked.discard(a[1])    # it is a result now, whatever it was
            return self.proxy(a[1])
        if a[0] == "k" and type(a[1]) is int and a[1] in self.callbacks:
            return self.callbacks[a[1]]
        raise plain.NotPlain("a message that is none")

    def shell(self, name):
        if isinstance(name, str):
            cls = self.judge_classes.get(name)
        else:
            cls = self.read_other(name)
            if not (isinstance(cls, type) and issubclass(cls, Remote)):
                cls = None
        if cls is None:
            raise plain.NotPlain("an object of no class")
        v = object.__new__(cls)
        if isinstance(v, Remote):
            object.__setattr__(v, "_bailiff", None)
        return v

    @staticmethod
    def fill(v, got):
        """Data alone: what the class itself has is not replaced."""
        own = getattr(v, "__dict__", None)
        cls = type(v)
        for name, value in got.items():
            how = _place(cls, name)
            if how == "slot":
                object.__setattr__(v, name, value)
            elif own is not None and (how == "free" or name in own):
                own[name] = value
        if own is not None and len(own) > len(got):
            for name in [n for n in own if n not in got and n != "_bailiff"]:
                del own[name]

    def proxy(self, number):
        """The stand-in for what the answer has under this number."""
        got = self.proxies.get(number)
        if got is None:
            got = self.instances.get(number)
        if got is not None:
            return got
        d = self.described.get(number)
        if d is None or number in self.making or len(self.making) > 100:
            raise plain.NotPlain("a message that is none")
        self.making.add(number)
        try:
            return self.make(number, d)
        finally:
            self.making.discard(number)

    def make(self, number, d):
        if d.get("k") == "c":
            got = self.proxies[number] = self.make_class(number, d)
        elif d.get("k") == "f":
            target = (self, self.generation, number, _path(d.get("path")))
            got = self.proxies[number] = _function(
                d, self.request,
                lambda args, kwargs: self.ask(
                    {"op": "call", "o": self.reference(target)},
                    names=(args, kwargs)), target)
        elif d.get("cls") is None and d.get("type") == "coroutine":
            got = self.instances[number] = _later(
                self, (self, self.generation, number, None))
        else:
            if d.get("cls") is not None:
                cls = self.read_other(d["cls"])
                if not (isinstance(cls, type) and issubclass(cls, Remote)):
                    raise plain.NotPlain("an object of no class")
            else:
                cls = _bare_class(d)
            got = object.__new__(cls)
            object.__setattr__(got, "_bailiff",
                               (self, self.generation, number, None))
            self.instances[number] = got
        return got

    def make_class(self, number, d):
        path = _path(d.get("path"))
        key = ".".join(path) if path else None
        if key in self.classes:
            return self.classes[key]
        bases = []
        for b in d.get("bases", []):
            if b[0] == "h":
                base = self.read_other(b)
                if isinstance(base, type):
                    bases.append(base)
        if len(self.proxies) > 10000 or len(bases) > 20 or \
                sum(len(b.__mro__) for b in bases) > 200:
            raise plain.NotPlain("too many classes")
        name = _name(d.get("name"))
        space = {"__module__": self.request["name"], "__doc__":
                 _text(d.get("doc")), "__qualname__":
                 _name(d.get("qualname"), dots=True)}
        target = (self, self.generation, number, path)
        if d.get("exc"):
            builtin = _builtin_exception(b[1] for b in d.get("bases", [])
                                         if b[0] == "x" and len(b) == 2)
            bases = [b for b in bases if issubclass(b, AnswerError)] or \
                [AnswerError]
            if not any(issubclass(b, builtin) for b in bases):
                bases.append(builtin)
            made = _new_type(type, name, bases, space)
        else:
            bases = [b for b in bases if issubclass(b, Remote)] or [Remote]
            self.members(d, space, target)
            space["__bailiff_own__"] = _own_stdout
            made = _new_type(RemoteType, name, bases, space)
        type.__setattr__(made, "__bailiff__", target)
        if key:
            self.classes[key] = made
        return made

    def members(self, d, space, target):
        own = d.get("own")
        own = own if isinstance(own, dict) else {}
        self.members_made += len(own)
        if self.members_made > MEMBERS_MAX:
            raise plain.NotPlain("too many members of classes")
        for name, m in own.items():
            kind = m.get("k") if isinstance(m, dict) else None
            if not isinstance(name, str) or not name.isidentifier() or \
                    name == "_bailiff":
                continue
            if name.startswith("__") and name.endswith("__"):
                if name in plain.SPECIAL:
                    space[name] = _special(name)
                continue
            if kind == "p":
                space[name] = property(_getter(name), _setter(name))
            elif kind in ("f", "s", "c"):
                f = _function(m, self.request, None, None,
                              _method(self, name, kind, target))
                space[name] = {"f": f, "s": staticmethod(f),
                               "c": classmethod(f)}[kind]

    def exception(self, d, dec, message):
        """What the answer raised, as one of ours."""
        if not isinstance(d, dict):
            raise plain.NotPlain("a message that is none")
        name, text = _name(d.get("type")), _text(d.get("text"), 8192) or ""
        mine = d.get("raised")
        if type(mine) is int and mine in self.raised:
            e = self.raised.pop(mine)   # the judge's, from a callback
            try:
                e._bailiff_through = True   # the answer has let it pass
            except AttributeError:
                pass
            return e
        cls = None
        if d.get("cls") is not None:
            cls = self.read_other(d["cls"])
        if not (isinstance(cls, type) and issubclass(cls, AnswerError)):
            names = d.get("bases")
            builtin = _builtin_exception(names if isinstance(names, list)
                                         else ())
            cls = _raised(name, builtin)
        if issubclass(cls, (StopIteration, StopAsyncIteration)) and \
                message.get("name") != "__next__":
            cls = _raised(name, Exception)  # it would end the judge's loops
        args = d.get("args")
        e = _blank(cls)
        e.args = tuple(dec.value(a) for a in args) \
            if isinstance(args, list) else (text,)
        e.type_name, e.trace = name, _text(d.get("trace"), 8192) or ""
        e.text = text
        if isinstance(e, OSError) and len(e.args) > 1:
            e.errno, e.strerror = e.args[:2]
        if isinstance(e, StopIteration) and e.args:
            e.value = e.args[0]
        if isinstance(e, SyntaxError):
            e.msg = text
        own = d.get("attrs")
        for name, a in (own if isinstance(own, dict) else {}).items():
            if name.isidentifier() and not name.startswith("_") and \
                    name not in ("args", "text", "trace", "type_name") and \
                    inspect.getattr_static(cls, name, _own_stdout) is \
                    _own_stdout:
                try:
                    setattr(e, name, dec.value(a))
                except (AttributeError, TypeError):
                    pass
        return e

    # the module

    def open(self):
        self.start()
        return self.exchange(_theirs(self.request), (), None)


@functools.lru_cache(4096)
def _place(cls, name):
    """Where an attribute that the answer sets goes: "free", "slot", "taken"."""
    if not name.isidentifier() or name.startswith("__") or \
            name == "_bailiff":
        raise plain.NotPlain("an attribute that can't be")
    at = inspect.getattr_static(cls, name, None)
    if isinstance(at, types.MemberDescriptorType):
        return "slot"
    return "taken" if callable(at) or isinstance(at, property) else "free"


@functools.lru_cache(4096)
def _is_judges(cls):
    """Made of class statements of the verifier's: its attributes are all."""
    library = getattr(sys, "stdlib_module_names", ())
    return all(c.__flags__ & (1 << 9) and
               c.__module__.partition(".")[0] not in library
               for c in cls.__mro__[:-1])


def _theirs(request):
    """A copy, with the names that its files have in the answer's cell."""
    request, work = dict(request), _root + "/work"

    def theirs(name):
        if isinstance(name, str) and (name + "/").startswith(work + "/"):
            return "." + name[len(work):]
        return name
    if _root:
        request["path"] = theirs(request["path"])
        if request.get("search"):
            request["search"] = [theirs(n) for n in request["search"]]
    return request


def _path(p):
    if isinstance(p, list) and 0 < len(p) < 20 and \
            all(isinstance(n, str) and n.isidentifier() for n in p):
        return p
    return None


def _text(s, most=65536):
    return s[:most].encode("utf-8", "replace").decode() \
        if isinstance(s, str) else None


def _name(s, dots=False):
    if isinstance(s, str) and len(s) < 500 and \
            (dots or s.isidentifier() or s == "<lambda>"):
        return s
    return "unnamed"


def _new_type(meta, name, bases, space):
    try:
        return meta(name, tuple(bases), space)
    except (TypeError, ValueError):
        raise plain.NotPlain("a class that can't be") from None


# What their exceptions say is for a verifier to say: a test is skipped, say.
TESTERS = frozenset(("bdb", "doctest", "pdb", "test", "unittest"))


def _builtin_exception(names):
    """The nearest one that a judge can catch without ending for it."""
    groups = getattr(builtins, "BaseExceptionGroup", ())
    library = getattr(sys, "stdlib_module_names", ())
    for name in names:
        module, _, last = name.rpartition(".") if isinstance(name, str) else \
            ("", "", "")
        module = module or "builtins"
        cls = None
        if module == "builtins" or module.partition(".")[0] in library and \
                module.partition(".")[0] not in TESTERS:
            cls = getattr(sys.modules.get(module), last, None)
        if isinstance(cls, type) and issubclass(cls, Exception) and \
                not issubclass(cls, groups):
            return cls
    return Exception


def _blank(cls):
    """An exception without arguments, by the builtin base that can do so."""
    for base in cls.__mro__:
        if base.__module__ == "builtins":
            try:
                return base.__new__(cls)
            except TypeError:
                continue
    return AnswerError.__new__(AnswerError)


_raised_types = {}


def _raised(name, builtin):
    key = name, builtin
    if key not in _raised_types:
        bases = (AnswerError,) if builtin is Exception else \
            (AnswerError, builtin)
        try:
            made = type(name, bases, {"__module__": "bailiff"})
        except TypeError:
            made = AnswerError
        if len(_raised_types) > 1000:
            return made
        _raised_types[key] = made
    return _raised_types[key]


# --- stand-ins ---------------------------------------------------------------

class _Default:
    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def _signature(rows):
    """What the answer says its function takes, if that can be."""
    made = []
    try:
        for name, kind, has, text in rows[:SIGNATURE_MAX]:
            default = inspect.Parameter.empty
            if has:
                try:
                    if not isinstance(text, str) or len(text) > 200:
                        raise ValueError
                    default = ast.literal_eval(text)
                except (ValueError, SyntaxError, TypeError, MemoryError,
                        RecursionError):
                    default = _Default("...")
            made.append(inspect.Parameter(
                name, inspect._ParameterKind(kind), default=default))
        return inspect.Signature(made)
    except (ValueError, TypeError):
        return None


async def _later(answer, target):
    """For a coroutine of the answer's: awaited here, it runs over there."""
    return answer.ask({"op": "await", "o": answer.reference(target)})


def _awaited(function):
    async def stand_in(*args, **kwargs):
        got = function(*args, **kwargs)
        if not isinstance(got, types.CoroutineType):
            raise AnswerError("returned no plain data: no coroutine")
        return await got
    return stand_in


def _function(d, request, call, target, method=None):
    """A real function that calls the answer's: inspect can show it."""
    if method is None:
        def stand_in(*args, **kwargs):
            return call(args, kwargs)
    else:
        stand_in = method
    if d.get("co") is True:
        stand_in = _awaited(stand_in)
    name = _name(d.get("name"))
    line = d.get("line")
    path, module = request["path"], request["name"]
    change = {"co_name": name}
    if hasattr(stand_in.__code__, "co_qualname"):
        change["co_qualname"] = _name(d.get("qualname"), dots=True)
    if type(line) is int and 0 < line < FAR:
        change.update(co_filename=path, co_firstlineno=line)
    code = stand_in.__code__.replace(**change)
    f = types.FunctionType(code, globals(), name, None, stand_in.__closure__)
    f.__qualname__ = _name(d.get("qualname"), dots=True)
    f.__doc__ = _text(d.get("doc"))
    f.__module__ = module
    signature = _signature(d.get("sig") or ())
    if d.get("sig") is not None and signature is not None:
        f.__signature__ = signature
    if target is not None:
        f.__bailiff__ = target
        if d.get("cache") is True:      # functools.lru_cache
            for part in ("cache_info", "cache_clear"):
                setattr(f, part, functools.partial(_part, target, part))
    return f


def _part(target, name):
    return target[0].ask({"op": "method", "name": name,
                          "o": target[0].reference(target)}, (), ((), {}))


def _method(answer, name, kind, target):
    if kind == "f":
        def method(self, *args, **kwargs):
            return answer.ask({"op": "method", "name": name},
                              [("o", self)], (args, kwargs))
    elif kind == "c":
        def method(cls, *args, **kwargs):
            return answer.ask({"op": "method", "name": name},
                              [("o", cls)], (args, kwargs))
    else:
        def method(*args, **kwargs):
            return answer.ask({"op": "method", "name": name, "o":
                               answer.reference(target)}, (), (args, kwargs))
    return method


def _getter(name):
    return lambda self: self.__getattr__(name)


def _setter(name):
    return lambda self, v: _owner(self).ask(
        {"op": "set", "name": name}, [("o", self), ("v", v)])


def _owner(v):
    own = v._bailiff or type(v).__bailiff__
    return own[0]


_OPERATORS = frozenset(("__contains__",)) | frozenset(
    f"__{how}{name}__" for how in ("", "r", "i") for name in (
        "add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow",
        "matmul", "and", "or", "xor", "lshift", "rshift"))
_COMPARISONS = frozenset(("__eq__", "__lt__", "__le__", "__gt__", "__ge__"))
_RESULTS = {"__bool__": bool, "__hash__": int, "__complex__": complex,
            "__len__": int, "__contains__": bool, "__str__": str,
            "__repr__": str, "__int__": int, "__float__": float,
            "__index__": int, "__exit__": object, "__eq__": bool,
            "__lt__": bool, "__le__": bool, "__gt__": bool, "__ge__": bool}


def _special(name):
    """A special method of the answer's class. Two objects of the answer are
    compared by the answer; one of them with anything else is never equal."""
    def special(self, *args, **kwargs):
        if name in _COMPARISONS and not isinstance(args[0], Remote):
            return NotImplemented
        own = self._bailiff
        asked = own is not None and own[2] in own[0].asked
        if name in _OPERATORS and not asked and \
                not all(isinstance(a, Remote) for a in args):
            # it would be told what is expected, and say that it fits
            raise AnswerError("returned no plain data: an object that computes "
                              "for itself")
        if name == "__exit__":
            args = (None, None, None)
        if name == "__call__":
            return _owner(self).ask({"op": "call"}, [("o", self)],
                                    (args, kwargs))
        got = _owner(self).ask({"op": "special", "name": name},
                               [("o", self)], (args, {}))
        if asked and own is not None and isinstance(got, Remote) and \
                got._bailiff is not None:
            own[0].asked.add(got._bailiff[2])
        if (name == "__len__" and type(got) is int and
                not 0 <= got < 1 << 63) or (
                name in ("__iter__", "__reversed__") and
                not hasattr(type(got), "__next__")):
            raise AnswerError(f"returned no plain data: {name} gave what it "
                              "can't")
        want = _RESULTS.get(name)
        if want is not None and not isinstance(got, want):
            if name in _COMPARISONS:
                return NotImplemented
            raise AnswerError(f"returned no plain data: {name} gave "
                              f"{type(got).__name__}")
        return got
    special.__name__ = name
    return special


class RemoteType(type):
    """The stand-in for a class of the answer's."""

    def __new__(meta, name, bases, space):
        if bases and space.pop("__bailiff_own__", None) is not _own_stdout:
            raise TypeError(f"{bases[0].__name__} is a class of the answer's, "
                            "which can't be a base on this side")
        return type.__new__(meta, name, bases, space)

    def __call__(cls, *args, **kwargs):
        answer = cls.__bailiff__[0]
        got = answer.ask({"op": "call",
                          "o": answer.reference(cls.__bailiff__)},
                         names=(args, kwargs))
        if type(got) is cls and got._bailiff is not None:
            answer.asked.add(got._bailiff[2])   # it was asked for as an object
        return got

    def __getattr__(cls, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        answer = cls.__bailiff__[0]
        return _fetch(answer, {"op": "get", "name": name, "o":
                               answer.reference(cls.__bailiff__)}, ())

    # What an enumeration has; another class of the answer's raises TypeError.
    def __iter__(cls):
        got = _of_class(cls, "__iter__")
        if not hasattr(type(got), "__next__"):
            raise AnswerError("returned no plain data: __iter__ gave what it "
                              "can't")
        return got

    def __getitem__(cls, key):
        return _of_class(cls, "__getitem__", key)

    def __setattr__(cls, name, v):
        answer = cls.__bailiff__[0]
        answer.ask({"op": "set", "name": name,
                    "o": answer.reference(cls.__bailiff__)}, [("v", v)])


def _of_class(cls, name, *args):
    answer = cls.__bailiff__[0]
    return answer.ask({"op": "special", "name": name, "o":
                       answer.reference(cls.__bailiff__)}, (), (args, {}))


def _fetch(answer, message, values):
    """An attribute; that it is missing is the answer's failure, too."""
    try:
        return answer.ask(message, values)
    except AnswerError as e:
        if isinstance(e, AttributeError):
            raise AnswerAttributeError(*e.args) from None
        raise


class Remote(metaclass=RemoteType):
    """An object of the answer's: over there, or (_bailiff is None) here, by
    its attributes alone."""

    __slots__ = ("_bailiff", "__dict__", "__weakref__")

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        own = object.__getattribute__(self, "_bailiff")
        if own is None:         # a constant of its class, maybe
            return getattr(type(self), name)
        return _fetch(own[0], {"op": "get", "name": name}, [("o", self)])

    def __setattr__(self, name, v):
        if self._bailiff is None:
            object.__setattr__(self, name, v)
        else:
            self._bailiff[0].ask({"op": "set", "name": name},
                                 [("o", self), ("v", v)])

    def __delattr__(self, name):
        if self._bailiff is None:
            object.__delattr__(self, name)
        else:
            self._bailiff[0].ask({"op": "del", "name": name}, [("o", self)])

    def __dir__(self):
        return [n for n in (*object.__dir__(type(self)),
                            *object.__getattribute__(self, "__dict__"))
                if n != "_bailiff"]

    def __hash__(self):
        return id(self) >> 4

    def __reduce_ex__(self, protocol):
        raise _raised("TypeError", TypeError)(
            "an object of the answer's stays where it is")


type.__setattr__(Remote, "__bailiff__", None)
_bare_classes = {}


def _bare_class(d):
    """For an object of a builtin type that has no plain form: a generator."""
    special = d.get("sp")
    special = tuple(sorted(s for s in special if s in plain.SPECIAL and
                           s not in _COMPARISONS and
                           s not in ("__str__", "__repr__"))) \
        if isinstance(special, list) and \
        all(isinstance(s, str) for s in special) else ()
    key = _name(d.get("type")), special
    if key not in _bare_classes:
        if len(_bare_classes) > 1000:
            raise plain.NotPlain("too many classes")
        _bare_classes[key] = RemoteType(
            key[0], (Remote,), {"__bailiff_own__": _own_stdout,
                                **{s: _special(s) for s in special}})
    return _bare_classes[key]


class AnswerModule(types.ModuleType):
    """The stand-in for the answer's module."""

    def __getattr__(self, name):
        answer = self.__dict__.get("__bailiff__")
        if answer is None or (name.startswith("__") and name.endswith("__")
                              and name != "__all__"):
            raise AttributeError(name)
        if name == "__all__":
            return self.public()
        if name not in self.__dict__["__names__"]:
            raise AnswerAttributeError(
                f"module {self.__name__!r} has no attribute {name!r}")
        return _fetch(answer, {"op": "get", "name": name}, ())

    def public(self):
        """For `import *`: nothing that the importer has under that name."""
        frame = sys._getframe(2)
        while frame is not None and frame.f_globals.get("__name__", "") \
                .startswith(("importlib", "bailiff")):
            frame = frame.f_back
        has = frame.f_globals if frame is not None else {}
        return [n for n in self.__dict__["__names__"] if not n.startswith("_")
                and n not in has and n not in builtins.__dict__]

    def __setattr__(self, name, v):
        answer = self.__dict__.get("__bailiff__")
        if answer is None or (name.startswith("__") and name.endswith("__")):
            types.ModuleType.__setattr__(self, name, v)
            return
        answer.ask({"op": "set", "name": name}, [("v", v)])
        self.__dict__["__names__"].add(name)
        self.__dict__.pop(name, None)

    def __dir__(self):
        return sorted(n for n in {*self.__dict__, *self.__dict__.get(
            "__names__", ())} if n not in ("__names__", "__bailiff__"))


def _fill_module(module, path, name, timeout=None, search=None, above=()):
    answer = _Answer({"op": "load", "path": path, "name": name,
                      "search": search, "above": list(above)},
                     timeout or _default["timeout"])
    with answer.lock:
        answer.until = time.monotonic() + answer.timeout
        try:
            names = answer.open()
            if not isinstance(names, dict):
                raise plain.NotPlain("a message that is none")
            # real attributes, so that vars() and inspect find them
            found = {n: answer.read_other(a) for n, a in names.items()
                     if isinstance(a, list) and n.isidentifier() and
                     len(a) == 2 and not n.startswith("__") and
                     n not in builtins.__dict__}    # for exec(tests, vars())
        except AnswerError:
            raise
        except (plain.NotPlain, ArithmeticError, AttributeError, LookupError,
                TypeError, ValueError, RecursionError, MemoryError) as e:
            answer.stop()
            raise AnswerError(f"returned no plain data: {e}") from None
    _modules.add(name)
    module.__dict__.update(found)
    module.__dict__["__names__"] = {n for n in names if n.isidentifier()}
    module.__dict__["__bailiff__"] = answer
    return module


def load(path, name="solution", timeout=None):
    """Loads the answer's Python file path in a cell of its own, and returns a
    stand-in for its module. timeout: seconds for each call."""
    module = AnswerModule(name)
    module.__file__ = path
    return _fill_module(module, path, name, timeout)


def _run_path(path, run_name):
    """runpy.run_path: the globals, as plain data and stand-ins."""
    request = {"op": "run", "path": path, "name": run_name}
    answer = _Answer(request, _default["timeout"])
    with answer.lock:
        answer.start()
        got = answer.ask({**_theirs(request),
                          "argv": [str(a) for a in sys.argv]})
        if type(got) is not dict:
            raise AnswerError("returned no plain data: no globals")
        return got
