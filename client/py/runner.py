"""Runs a Python verifier as it is, with the answer kept out of its process.

What would load the answer's code gets a stand-in from bailiff.py instead; what
would run it as a program runs it as the answer. The rest is as in python3
verifier.py. Ends with 2 when the verifier itself fails.
"""

import ast
import dis
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import io
import json
import os
import pickle
import re
import resource
import runpy
import socket
import struct
import subprocess
import sys
import threading
import time
import tokenize
import traceback
import types

HERE = os.path.dirname(os.path.abspath(__file__))
RUN = os.path.join(os.path.dirname(HERE), "run.sock")
NOTE = struct.Struct("<IIIIQQIIII")
NOTE_MAGIC, NOTE_VERSION, NOTE_IN_JUDGE = 0x65746f6e, 1, 1 << 4
_Popen_init = subprocess.Popen.__init__
_compile, _getframe = compile, sys._getframe
TEXT_MAX = 1 << 20  # of the answer's, that is looked at
HEAVY = 64 << 20    # bytes from the answer: at most, see heavy()
GIVEN_MAX = 64 << 20
STEPS_LEAST, CALLS_LEAST = 8, 4
NORM_LEAST = 6      # bytes of a text that can call something
COMPILE_S = 3
DIGITS_MAX = 50000  # more than any number that comes from the answer has
GENERATORS = frozenset((     # of code that is nobody's: of the library
    "collections", "dataclasses", "enum", "typing", "abc"))
CODE_LEAST = 10     # bytes: what only returns something is anybody's
STATE = os.path.join(HERE, "guard")     # for the verifier's Python programs
READERS = frozenset((   # they run nothing of what they are given
    "cat", "cmp", "cp", "diff", "file", "grep", "head", "ls", "md5sum",
    "sha256sum", "stat", "tail", "test", "wc"))
INTERPRETERS = frozenset(("bash", "dash", "java", "lua", "node", "perl", "php",
                          "ruby", "sh"))


def caller(depth):
    """The function that brought the audit event about, and its module."""
    try:
        f = _getframe(depth)
        return f.f_code.co_name, f.f_globals.get("__name__")
    except ValueError:
        return None, None       # the interpreter itself


# --- the body of a function --------------------------------------------------

def is_body(text):
    """As DeepGym tells; but what nowhere returns is a program after all: it
    has another way to speak, or nothing to say, which is no 0."""
    if "__name__" in text and "json.dumps" in text:
        return False
    try:
        todo = list(ast.parse(text).body)
    except SyntaxError:
        return False
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Return):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef,
                                 ast.ClassDef, ast.Lambda)):
            todo += ast.iter_child_nodes(node)
    return False


def body_function(tree, path):
    """The same statements, as a function of the two paths."""
    shell = ast.parse("def verify(solution_path, test_cases_path=None): pass")
    function = shell.body[0]
    future = [s for s in tree.body if isinstance(s, ast.ImportFrom) and
              s.module == "__future__"]
    function.body = [s for s in tree.body if s not in future]
    shell.body[:0] = future
    ast.fix_missing_locations(shell)
    return _compile(shell, path, "exec", dont_inherit=True)


def verdict_of(got):
    """What a body returned, as a verdict."""
    v = {"schema_version": "1.0", "score": 0.0, "passed": False,
         "details": None, "truncated": False}
    if isinstance(got, bool):
        v.update(score=float(got), passed=got)
    elif isinstance(got, (int, float)):
        v.update(score=got, passed=got >= 0.5)
    elif isinstance(got, dict):
        for key in ("details", "reward_components", "metrics", "seed",
                    "cases"):
            if got.get(key) is not None:
                v[key] = got[key]
        v.update(score=got.get("score", 0.0), passed=bool(got.get("passed")))
    else:
        v["details"] = f"the verifier returned {type(got).__name__}"
    score = float(v["score"])
    if score != score:
        v["passed"], score = False, 0.0
    v["score"] = min(1.0, max(0.0, score))
    return v


def heavy():
    """So much of the answer's data fills this process's memory."""
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    return HEAVY if limit == resource.RLIM_INFINITY else min(HEAVY, limit // 64)


def norm(text):
    return "".join(text.split())


# --- the answer's code stays out ---------------------------------------------

class Guard:
    """Knows what is the answer's, by path and by text."""

    def __init__(self, bailiff, solution):
        self.bailiff = bailiff
        self.path = os.path.realpath(solution)
        self.name = os.path.basename(self.path)
        self.folder = os.path.isdir(self.path)
        self.work = os.path.dirname(self.path)
        self.codes, self.verifier = None, None
        self.sent = self.refused = self.blocked = False
        self.local = threading.local()
        self.text, self.said = "", {}
        self.needed = {"BAILIFF_SOLUTION": self.path,
                       "BAILIFF_ANSWER": os.environ["BAILIFF_ANSWER"]}
        stem = re.escape(os.path.splitext(self.name)[0])
        self.imports = re.compile(rf"(^|\s)-m\s+{stem}\b")

    def owns(self, path):
        try:
            path = os.path.realpath(os.fspath(path))
        except (TypeError, ValueError, OSError):
            return False
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        return path == self.path or (
            self.folder and path.startswith(self.path + os.sep))

    def below(self, path):
        """In a folder that the judge can write."""
        path = os.path.realpath(path)
        return any(path.startswith(top + os.sep) for top in
                   (self.work, "/tmp", "/run", "/home", "/var/tmp"))

    def there(self, path):
        """The same file, as the answer's cell has it."""
        return os.path.join(self.name, os.path.relpath(
            os.path.realpath(path), self.path)) \
            if self.folder and os.path.realpath(path) != self.path \
            else self.name

    def caused(self, e):
        """An exception of the answer's, or of a name that it does not have."""
        if isinstance(e, MemoryError) and \
                self.bailiff._received[0] > heavy():
            return True         # it is full of what the answer gave
        while e is not None:
            if isinstance(e, self.bailiff.AnswerError) or \
                    getattr(e, "_bailiff_through", False) or (
                    isinstance(e, ImportError) and e.path is not None and
                    self.owns(e.path)):
                return True
            e = e.__cause__ or (None if e.__suppress_context__ else
                                e.__context__)
        return False

    # modules

    def loader(self, name, path):
        guard = self

        class AnswerLoader(importlib.abc.InspectLoader):
            """Loads a module over there."""

            def __init__(self):
                self.name, self.path = name, path

            def create_module(self, spec):
                return guard.bailiff.AnswerModule(spec.name)

            def exec_module(self, module):
                spec = module.__spec__
                above, parent = [], module.__name__.rpartition(".")[0]
                while parent:
                    above[:0] = [parent]
                    parent = parent.rpartition(".")[0]
                guard.bailiff._fill_module(
                    module, path, module.__name__,
                    search=[os.path.dirname(path)] if spec and
                    spec.submodule_search_locations is not None else None,
                    above=above)

            def load_module(self, fullname=None):
                spec = importlib.util.spec_from_file_location(
                    fullname or name, path)
                module = importlib.util.module_from_spec(spec)
                sys.modules[module.__name__] = module
                self.exec_module(module)
                return module

            def is_package(self, fullname):
                return os.path.basename(path) == "__init__.py"

            def get_filename(self, fullname=None):
                return path

            def get_source(self, fullname=None):
                with open(path, encoding="utf-8") as f:
                    return f.read()

            def get_code(self, fullname):
                guard.refuse()

            def get_data(self, path):
                with open(path, "rb") as f:
                    return f.read()

            def path_stats(self, path):
                st = os.stat(path)
                return {"mtime": st.st_mtime, "size": st.st_size}

            def source_to_code(self, data, path="<string>", **options):
                return _compile(data, path, "exec", dont_inherit=True)

        return AnswerLoader()

    def find_spec(self, name, path=None, target=None):
        """sys.meta_path: an import of a file of the answer's."""
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                break
        else:
            return None
        if self.ours(spec) and name.partition(".")[0] in \
                getattr(sys, "stdlib_module_names", ()):
            # by its name it is the library's, whatever is in the folder
            rest = [p for p in (path or sys.path) if not self.owns(p or ".")]
            spec = importlib.machinery.PathFinder.find_spec(name, rest) or spec
        return self.guarded_spec(spec)

    def ours(self, spec):
        return spec is not None and bool(spec.origin) and \
            self.owns(spec.origin)

    def guarded_spec(self, spec):
        if self.ours(spec):
            spec.loader = self.loader(spec.name, os.path.abspath(spec.origin))
        return spec

    def install_finder(self):
        """Those who ask a folder's finder by itself: pkgutil, say."""
        guard, finder = self, importlib.machinery.FileFinder
        plain_find = finder.find_spec
        finder.find_spec = lambda self, *args: guard.guarded_spec(
            plain_find(self, *args))
        plain_module = runpy.run_module

        def run_module(mod_name, init_globals=None, run_name=None,
                       alter_sys=False):
            spec = importlib.util.find_spec(mod_name)
            if not guard.ours(spec):
                return plain_module(mod_name, init_globals, run_name,
                                    alter_sys)
            return guard.bailiff._run_path(os.path.abspath(spec.origin),
                                           run_name or mod_name)
        runpy.run_module = run_module

    def invalidate_caches(self):
        pass

    def install(self):
        sys.meta_path.insert(0, self)
        plain_spec = importlib.util.spec_from_file_location
        plain_loader = importlib.machinery.SourceFileLoader
        plain_run_path = runpy.run_path
        guard = self

        def spec_from_file_location(name, location=None, *args, loader=None,
                                    **kwargs):
            if location is not None and guard.owns(location):
                loader = guard.loader(name, os.path.abspath(location))
                if os.path.basename(location) == "__init__.py":
                    kwargs.setdefault("submodule_search_locations",
                                      [os.path.dirname(
                                          os.path.abspath(location))])
            if loader is not None:
                kwargs["loader"] = loader
            return plain_spec(name, location, *args, **kwargs)

        class SourceFileLoader(plain_loader):
            def __new__(cls, fullname, path):
                if guard.owns(path):
                    return guard.loader(fullname, os.path.abspath(path))
                return super().__new__(cls)

        def run_path(path_name, init_globals=None, run_name=None):
            if not guard.owns(path_name):
                return plain_run_path(path_name, init_globals, run_name)
            return guard.bailiff._run_path(os.path.abspath(path_name),
                                           run_name or "<run_path>")

        importlib.util.spec_from_file_location = spec_from_file_location
        importlib.machinery.SourceFileLoader = SourceFileLoader
        runpy.run_path = run_path
        self.install_popen()
        self.install_finder()
        sys.addaudithook(self.audit)

    # programs

    def command(self, args, shell, cwd, env=None):
        """The same command, by BAILIFF_ANSWER; None: it stays as it is.
        Both cells have the answer under the same name, so that a command's
        text means the same there."""
        answer = os.environ["BAILIFF_ANSWER"]
        if isinstance(args, (str, bytes, os.PathLike)):
            args = [args]
        args = [os.fsdecode(os.fspath(a)) for a in args]
        if not args or self.asks(args, shell):
            return None
        at = os.fsdecode(os.fspath(cwd)) if cwd is not None else "."
        inside = cwd is not None and self.owns(at)
        if not inside and not self.touches(args, shell, at) and \
                not self.made_there(args[0], shell, at):
            return None
        if not shell and not inside and self.stays(args, at):
            return None
        self.give(args, shell, at)
        self.sent = True
        runs = not shell and self.owns(os.path.join(at, args[0])) and \
            os.access(os.path.join(at, args[0]), os.X_OK)
        if shell:
            args = ["sh", "-c"] + args
        args = [self.there(os.path.join(at, a))
                if self.owns(os.path.join(at, a)) else a for a in args]
        if args[0] == sys.executable:
            args[0] = "python3"
        if args[0] == self.name:
            args[0] = "./" + args[0]
        if runs:        # the verifier has made it so, or means it to be
            args = ["sh", "-c", 'chmod u+x "$1" && exec "$@"', "sh"] + args
        own = [f"{k}={v}" for k, v in (
                   (os.fsdecode(k), os.fsdecode(v))
                   for k, v in (env or {}).items())
               if os.environ.get(k) != v and k not in (
                   "PYTHONPATH", "HOME", "PATH", "LD_PRELOAD")]
        if own:
            args = ["env", *own, *args]
        if inside:
            args = ["sh", "-c", 'cd "$1" && shift && exec "$@"', "sh",
                    self.there(at)] + args
        return [answer, "--"] + args

    @staticmethod
    def asks(args, shell):
        """The verifier runs BAILIFF_ANSWER itself. That an argument has this
        name in it says nothing: the answer may have given it."""
        first = os.path.basename(args[0])
        if shell or (first in ("sh", "bash", "dash") and len(args) > 2 and
                     args[1] == "-c"):
            text = args[0] if shell else args[2]
            return "BAILIFF_ANSWER" in text or \
                os.environ["BAILIFF_ANSWER"] in text
        return os.environ["BAILIFF_ANSWER"] in (
            args[:5] if first in ("env", "nice", "setsid", "stdbuf",
                                  "timeout") else args[:1])

    @staticmethod
    def words(text):
        return re.findall(r"[^\s'\"<>|;&()=]+", text)

    def touches(self, args, shell, at):
        """The answer is what a command runs or reads. Of an argument only the
        whole counts, for its text may be the answer's; of a shell's or an
        interpreter's text, each word."""
        if not shell and any(a != "" and self.owns(os.path.join(at, a))
                             for a in args):
            return True
        texts = args[:1] if shell else [
            b for a, b in zip(args, args[1:]) if a in ("-c", "-e")]
        if any(self.name in w and self.owns(os.path.join(at, w))
               for text in texts for w in self.words(text)):
            return True
        return self.module(" ".join(texts if shell else args[:8]), at)

    def module(self, text, at):
        """Python runs the answer's module, and no other of that name."""
        there = os.path.join(at, self.name)
        return self.imports.search(text) is not None and (
            self.owns(there) or not os.path.exists(there))

    def made_there(self, word, shell, at):
        """A program that is not here, after a command over there that may have
        made it: what a compiler wrote, say."""
        word = (word.split() or [""])[0] if shell else word
        return self.sent and "/" in word and \
            not os.path.exists(os.path.join(at, word))

    def is_judges(self, word, at):
        path = os.path.join(at, word)
        return os.path.isfile(path) and not self.owns(path) and \
            self.below(path)

    @staticmethod
    def program(args):
        """The program's name, and the script that it is given, if it is."""
        name = os.path.basename(args[0])
        python = name.startswith("python") or args[0] == sys.executable
        if not python and name not in INTERPRETERS:
            return name, None, False
        rest = iter(args[1:])
        for a in rest:
            if a in ("-W", "-X") and python:
                next(rest, None)
            elif a in ("-c", "-e", "-m"):
                return name, None, python
            elif not a.startswith("-"):
                return name, a, python
        return name, None, python

    def stays(self, args, at):
        """A program of the judge's, which is given the answer's path: in Python
        the same guard is in it; of another it isn't known what it does."""
        name, script, python = self.program(args)
        if name in READERS or (python and "-c" in args[1:6]):
            return True         # what it imports is a stand-in there, too
        if script is not None and self.is_judges(script, at):
            if not python:
                self.refuse()
            return True
        if "/" in args[0] and self.is_judges(args[0], at):
            self.refuse()
        return False

    def learn(self, code, text):
        """The verifier's own words: what it names itself, no answer has put
        into its mouth. The very objects, for equal ones may be anybody's."""
        self.text, todo = text, [code]
        while todo:
            for c in todo.pop().co_consts:
                if isinstance(c, types.CodeType):
                    todo.append(c)
                elif isinstance(c, str) and len(c) > 1:
                    self.said[id(c)] = c
                elif isinstance(c, tuple):
                    self.said.update((id(x), x) for x in c
                                     if isinstance(x, str) and len(x) > 1)

    def give(self, args, shell, at):
        """Files of the judge's that the verifier tells a program of the
        answer's to read. Others' names may come from the answer; and to a
        program that is not the answer's such files would show what is
        expected, or how it is looked at."""
        if shell:
            words = self.words(" ".join(args))
            given = [w for w in words if re.search(
                rf"<\s*{re.escape(w)}", self.text)]
            answers = False
        else:
            _, script, _ = self.program(args)
            words = args[1:]
            given = [w for w in words if id(w) in self.said]
            answers = self.owns(os.path.join(at, script or args[0]))
        for word in dict.fromkeys(words):
            if word.startswith("-") or not self.is_judges(word, at):
                continue
            path = os.path.join(at, word)
            if word not in given and answers:
                continue
            if word not in given or not (shell or answers) or \
                    os.path.realpath(path) == os.path.realpath(
                        self.verifier) or \
                    os.path.getsize(path) > GIVEN_MAX:
                self.refuse()
            with open(path, "rb") as f:
                subprocess.run(
                    [os.environ["BAILIFF_ANSWER"], "--", "sh", "-c",
                     'mkdir -p "$(dirname "$1")" && cat >"$1"', "sh", word],
                    stdin=f, stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL, check=False)

    def guarded(self, args, env):
        """The same for a program that stays, so that Python in it is guarded
        whatever is asked for."""
        env = os.environ if env is None else env
        env = {os.fsdecode(k): os.fsdecode(v) for k, v in env.items()}
        env.update(self.needed)
        if not env.get("PYTHONPATH", "").startswith(HERE):
            env["PYTHONPATH"] = os.pathsep.join(filter(None, (
                HERE, env.get("PYTHONPATH"))))
        if isinstance(args, (list, tuple)) and args and \
                self.program([os.fsdecode(os.fspath(a)) for a in args])[2]:
            args, done = list(args), False
            for i, a in enumerate(args[1:], 1):
                a = os.fsdecode(os.fspath(a))
                done = done or not a.startswith("-") or a in ("-c", "-m")
                if not done and not a.startswith("--") and \
                        re.fullmatch(r"-[A-Za-z]+", a):
                    args[i] = "-" + (re.sub("[IES]", "", a[1:]) or "q")
        return args, env

    def install_popen(self):
        guard = self

        def init(popen, args, bufsize=-1, executable=None, stdin=None,
                 stdout=None, stderr=None, preexec_fn=None, close_fds=True,
                 shell=False, cwd=None, env=None, *more, **kwargs):
            changed = guard.command(args, shell, cwd, env)
            if changed is not None:
                args, shell, cwd = changed, False, None
                executable = env = preexec_fn = None
            else:
                args, env = guard.guarded(args, env)
            _Popen_init(popen, args, bufsize, executable, stdin, stdout,
                        stderr, preexec_fn, close_fds, shell, cwd, env, *more,
                        **kwargs)
        subprocess.Popen.__init__ = init

    # code

    def signature(self, code):
        return (code.co_code, code.co_names, code.co_varnames, tuple(
            c for c in code.co_consts if not isinstance(c, types.CodeType)))

    def signatures(self, code):
        """Of code and all within that does something of its own."""
        found, todo = set(), [code]
        while todo:
            c = todo.pop()
            if len(c.co_code) >= CODE_LEAST:
                found.add(self.signature(c))
            todo += [k for k in c.co_consts if isinstance(k, types.CodeType)]
        return found

    def steps(self, code):
        """What code does, one after the other, wherever it stands."""
        found = []
        for i in dis.get_instructions(code):
            if i.opname in ("RESUME", "CACHE", "EXTENDED_ARG", "NOP"):
                continue
            jump = i.opcode in dis.hasjrel or i.opcode in dis.hasjabs
            found.append((i.opname, None if jump else
                          self.signature(i.argval)
                          if isinstance(i.argval, types.CodeType)
                          else (type(i.argval), i.argval)))
        return found[:-2]       # but for its end

    def holds(self, code):
        """The answer's whole text is in there, with more around it."""
        steps = None
        for mine in self.wholes:
            if len(mine) > len(code.co_code) // 2:
                continue
            steps = steps or self.steps(code) + [("", "")] * 2
            for at in range(len(steps) - len(mine) + 1):
                if steps[at] == mine[0] and steps[at:at + len(mine)] == mine:
                    return True
        return False

    def texts(self, path):
        """What of a file may be code: all of it, or blocks between fences."""
        with open(path, "rb") as f:
            data = f.read(8 * TEXT_MAX)
        text = data.decode("utf-8", "replace")
        yield text, "exec"
        other = self.decoded(data)
        if other is not None:
            yield other, "exec"
        yield text.strip(), "eval"
        for block in text.split("```")[1::2]:
            yield block.partition("\n")[2], "exec"
            yield block, "exec"

    @staticmethod
    def decoded(data):
        """The text that Python makes of bytes, if it isn't plain UTF-8."""
        try:
            how, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
            return None if how == "utf-8" else data.decode(how, "replace")
        except (SyntaxError, LookupError, ValueError):
            return None

    def compiled(self, paths, wholes=None):
        found = set()
        for path in paths:
            try:
                texts = list(self.texts(path))[:200]
            except OSError:
                continue
            for text, mode in texts:
                try:
                    code = _compile(text, path, mode, dont_inherit=True)
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    continue
                found |= self.signatures(code)
                try:
                    steps = self.steps(code) if wholes is not None else []
                except ValueError:      # a number that dis can't show
                    steps = []
                if len(steps) >= STEPS_LEAST or (
                        len(steps) >= CALLS_LEAST and
                        any("CALL" in s[0] for s in steps)):
                    wholes.append(steps)
        return found

    def files(self, top, mine):
        for folder, folders, names in os.walk(top):
            folders[:] = [d for d in folders
                          if mine or not self.owns(os.path.join(folder, d))]
            for name in names:
                path = os.path.join(folder, name)
                if self.owns(path) == mine and (
                        mine or name.endswith(".py")):
                    yield path

    def prepare(self):
        """What code of the answer's looks like, but for what is the judge's
        own as well: a reference solution, say."""
        mine = list(self.files(self.path, True)) if self.folder else \
            [self.path]
        own = list(self.files(self.work, False))
        got = None
        if not any(os.path.getsize(p) > TEXT_MAX for p in mine):
            got = self.apart(lambda: self.known(mine))
        self.codes, self.wholes = got or (set(), [])
        self.same = self.compiled(own)
        if self.codes <= self.same:
            self.wholes = []
        self.codes -= self.same
        self.norms, self.seen = self.normed(mine, own), set()
        self.hot = set()
        if got is not None:     # they were compiled as they are
            self.seen.update(self.norms)

    def known(self, paths):
        wholes = []
        return self.compiled(paths, wholes), wholes

    def normed(self, mine, own):
        """The answer's texts without blanks, to be found in others."""
        judges, room, found = [], 8 * TEXT_MAX, []
        for path in own:
            try:
                judges.append(norm(next(self.texts(path))[0]))
            except OSError:
                continue
        for path in mine[:1000]:
            for text, _ in list(self.texts(path))[:200]:
                n = norm(text)
                if len(n) >= NORM_LEAST and "(" in n and len(n) <= room and \
                        n not in found and not any(n in j for j in judges):
                    found.append(n)
                    room -= len(n)
        return found

    def apart(self, work):
        """Done in a process of its own, for so long: the compiler can be kept
        busy by a text, and would keep the judge."""
        back, there = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                resource.setrlimit(resource.RLIMIT_CPU, (COMPILE_S, COMPILE_S))
                data = pickle.dumps(work())
                while data:
                    data = data[os.write(there, data):]
            finally:
                os._exit(0)
        os.close(there)
        with os.fdopen(back, "rb") as f:
            data = f.read()
        os.waitpid(pid, 0)
        try:
            return pickle.loads(data)   # from our own process
        except (EOFError, pickle.UnpicklingError):
            return None

    def save(self):
        state = {k: vars(self)[k] for k in (
            "codes", "hot", "wholes", "same", "norms", "seen", "verifier")}
        fd = os.open(STATE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "wb") as f:
            pickle.dump(state, f)

    def load(self):
        with open(STATE, "rb") as f:
            vars(self).update(pickle.load(f))   # of the runner itself

    def look_at(self, source, path):
        """A text is compiled: if the answer's is in it, what comes of it must
        not be executed. To parse it is fine."""
        if source is None and isinstance(path, str) and self.below(path):
            try:                # a program of this interpreter's
                with open(path, encoding="utf-8", errors="replace") as f:
                    source = f.read(16 * TEXT_MAX)
            except OSError:
                return
        if isinstance(source, bytes):
            source = self.decoded(source) or source.decode("utf-8", "replace")
        if not isinstance(source, str):
            return
        n = norm(source)
        if isinstance(path, str) and path.startswith("<doctest ") and \
                any(n in m for m in self.norms):
            self.refuse()       # an example of the answer's own
        if n in self.seen or not any(m in n for m in self.norms):
            return
        self.seen.add(n)

        def signatures():
            for mode in ("exec", "eval"):
                try:
                    return self.signatures(_compile(
                        source, "?", mode, dont_inherit=True))
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    pass
            return set()
        got = self.apart(signatures)
        if got is None:
            self.blocked = True
        else:
            self.codes |= got - self.same
            self.hot |= got

    def executed(self, code):
        function, module = caller(3)
        imported = function == "_call_with_frames_removed"
        name = code.co_filename
        if module in GENERATORS or name == self.verifier:
            return
        if name.startswith("<doctest "):    # the answer's words, maybe
            if re.split(r"[.\[]", name[9:])[0] in {"NoName",
                                                   *self.bailiff._modules}:
                self.refuse()
        if self.owns(name):
            self.refuse()
        if imported and not self.below(name):
            return              # a library of the host's
        if module == "timeit":  # its own words may be the answer's, too
            if self.hot & self.signatures(code):
                self.refuse()
            return
        if self.codes & self.signatures(code) or (
                not imported and (self.blocked or self.holds(code))):
            self.refuse()

    def audit(self, event, args):
        if event not in ("exec", "compile", "import", "ctypes.dlopen",
                         "os.system", "os.exec", "os.posix_spawn"):
            return
        if getattr(self.local, "busy", False):
            return
        while self.refused:     # by another thread, which ends this process
            time.sleep(1)
        if event.startswith("os."):
            words = args[1] if len(args) > 1 else [args[0]]
            if self.command(words, event == "os.system", None) is not None:
                self.refuse()
            return
        self.local.busy = True
        try:
            if event == "compile":
                self.look_at(*args[:2])
            elif event in ("import", "ctypes.dlopen"):
                path = args[event == "import"]  # of a program's own code
                if isinstance(path, str) and self.owns(path):
                    self.refuse()
            elif isinstance(args[0], types.CodeType):
                self.executed(args[0])
        finally:
            self.local.busy = False

    def refuse(self):
        """The client ends the run; nothing that the judge says counts."""
        self.refused = self.local.busy = True
        sys.stderr.write("bailiff: the judge would run the answer's code in "
                         "its own process\n")
        sys.stderr.flush()
        try:
            s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            s.connect(RUN)
            s.recv(65536)
            s.send(NOTE.pack(NOTE_MAGIC, NOTE_VERSION, 0, NOTE_IN_JUDGE,
                             0, 0, 0, 0, 0, 0))
            s.settimeout(10)
            s.recv(1)
        except OSError:
            pass
        os._exit(2)


# --- the verifier ------------------------------------------------------------

def options(argv):
    shared, timeout = False, 30.0
    while argv and argv[0].startswith("--"):
        word = argv.pop(0)
        if word == "--shared":
            shared = True
        elif word == "--timeout":
            timeout = float(argv.pop(0))
    return shared, timeout, argv


def answer_failed(bailiff, e, out):
    """Nothing caught what the answer did: it has not passed, and that is no
    failure of the judge's."""
    name = getattr(e, "type_name", type(e).__name__)
    if isinstance(e, MemoryError):
        name = "the judge's memory is full of its data"
    text = f"{name}: {e}" if name != "AnswerError" else str(e)
    kind = ("timeout" if isinstance(e, bailiff.AnswerTimeout) else
            "import_error" if isinstance(e, (ImportError, SyntaxError)) else
            "runtime_error")
    text = f"the answer failed: {text}"[:2000]
    line = json.dumps({
        "schema_version": "1.0", "score": 0.0, "passed": False,
        "details": text.encode("utf-8", "replace").decode(),
        "truncated": False, "error_type": kind})
    data = ("\n" + line + "\n").encode()
    while data:
        data = data[os.write(out, data):]


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            return 2
    return 0


def execute(verifier, solution, tests, guard):
    with tokenize.open(verifier) as f:  # as Python itself reads it
        text = f.read()
    main = types.ModuleType("__main__")
    main.__file__ = verifier
    main.__builtins__ = __builtins__
    sys.modules["__main__"] = main
    body = is_body(text)
    code = body_function(ast.parse(text, verifier), verifier) if body else \
        _compile(text, verifier, "exec", dont_inherit=True)
    if guard is not None:
        guard.learn(code, text)
    exec(code, main.__dict__)
    if not body:
        return 0
    v = verdict_of(main.verify(solution, tests))
    sys.__stdout__.flush()
    print("\n" + json.dumps(v, default=repr, skipkeys=True),
          file=sys.__stdout__)
    return 0 if v["passed"] else 1


def child(solution):
    """In another Python program of the verifier's: the same guard."""
    guard = Guard(importlib.import_module("bailiff"), solution)
    guard.bailiff._child[0] = True
    guard.load()
    guard.install()


def main():
    shared, timeout, argv = options(sys.argv[1:])
    verifier, solution = argv[0], argv[1]
    out = os.dup(1)
    sys.argv = argv
    sys.path[0] = os.path.dirname(os.path.abspath(verifier))
    sys.path.append(HERE)
    sys.dont_write_bytecode = True
    # text of the answer's must not be able to end the judge that prints it
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")
    bailiff = importlib.import_module("bailiff")
    bailiff._default["timeout"] = timeout
    guard = None
    if not shared:
        guard = Guard(bailiff, solution)
        guard.verifier = verifier
        guard.prepare()
        guard.save()
        guard.install()
        # its Python children, through sitecustomize.py
        os.environ.update(guard.needed)
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (
            HERE, os.environ.get("PYTHONPATH"))))
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(DIGITS_MAX)
    try:
        status = execute(verifier, solution,
                         argv[2] if len(argv) > 2 else None, guard)
    except SystemExit as e:
        status = e.code
        if status is not None and not isinstance(status, int):
            print(status, file=sys.stderr)
            status = 1
    except BaseException as e:
        flush()
        status = 2
        try:
            traceback.print_exc()
        except BaseException:   # of what the answer gave it to print
            print(type(e).__name__, file=sys.stderr)
        trace = getattr(e, "trace", "")
        if trace and isinstance(e, bailiff.AnswerError):
            print("In the answer's cell:", trace, sep="\n", file=sys.stderr)
        if not shared and guard.caused(e):
            answer_failed(bailiff, e, out)
            status = 1
    flush()
    # threads and exit handlers of the verifier's have their time
    raise SystemExit(status)


if __name__ == "__main__":
    main()
