"""What a shell test asks of results, by a Python expression over d: one process
for all of it, since to start one for each takes longer than many a test.

    asker.py REQUESTS REPLIES PID   two fifos; a request is FILE NUL EXPRESSION NUL

Ends when the test, PID, has."""

import errno
import json
import os
import select
import sys
import time


def short(d):
    """A result in four words: verdict, score, whether it is one that a trainer
    leaves out, and why there is no verdict."""
    return " ".join(str(x) for x in [
        d["verdict"], d.get("score", "-"), d["mask_sample"],
        *(d[k] for k in ("failure_kind", "failure_reason") if k in d)])


def said(path):
    """The last line of the form {...} is the verdict, as DeepGym 0.3 takes it."""
    word = "none"
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            line = line.strip()
            if line[:1] == "{" and line[-1:] == "}":
                try:
                    word = "passed" if json.loads(line)["passed"] else "failed"
                except Exception:           # not a verdict
                    pass
    return word


def reply_to(path, expression):
    try:
        if expression == "said":
            return said(path)
        with open(path, encoding="utf-8") as f:
            d = json.load(f)
        return eval("(" + expression + ")",         # the test's own words
                    {"d": d, "json": json, "short": short})
    except Exception as e:
        return f"no result: {e!r}"


def put(name, text):
    """To whoever waits for it; nobody within a minute: a test that ended."""
    for _ in range(60000):
        try:
            fd = os.open(name, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as e:
            if e.errno != errno.ENXIO:
                return
            time.sleep(0.001)
            continue
        os.set_blocking(fd, True)
        with os.fdopen(fd, "wb") as f:
            f.write(text)
        return


def main():
    requests, replies, test = sys.argv[1:]
    fd = os.open(requests, os.O_RDWR | os.O_NONBLOCK)   # always a writer: no end
    print("ready", flush=True)
    held = b""
    while True:
        if not select.select([fd], [], [], 2)[0]:
            if not os.path.exists(f"/proc/{test}"):
                return
            continue
        held += os.read(fd, 65536)
        while held.count(b"\0") >= 2:
            path, expression, held = held.split(b"\0", 2)
            text = str(reply_to(os.fsdecode(path), os.fsdecode(expression)))
            put(replies, os.fsencode(text).replace(b"\0", b"?") + b"\n\0")


try:
    main()
except (BrokenPipeError, KeyboardInterrupt):
    pass
