#!/bin/bash
# C02. Sockets without a path: answer, judge, the machine and each run have
# abstract names of their own, and none of them meets another's.
# More of the kind: stream, datagram, seqpacket, and names that the kernel gave;
# the machine as the visitor; every name in the machine's list; the same name
# taken by both; judge and answer in one run, each as the server.
# shellcheck disable=SC2086 # no blanks
. selftest/payload/cell.sh

# serve FILE VISITOR... @ SERVER...: what the visitor met of the server
serve() {
	local file=$1 visitor=()
	shift
	while [ "$1" != @ ]; do
		visitor+=("$1")
		shift
	done
	talk "${@:2}" serve
	hear 'ready .*' || ok 1 "a server is there" "$work/talk.err"
	"${visitor[@]}" visit "$line" >"$work/$file" 2>&1
	"${visitor[@]}" take "$line" >>"$work/$file" 2>&1
	tell end
	hush "$file"
}
met() {		# SERVER-DESCRIPTION
	for w in stream dgram seqpacket autobound; do
		both $w ECONNREFUSED ok "$1: $w"
	done
	both listed no yes "$1: not in /proc/net/unix"
	for w in take_stream take_dgram; do
		both $w ok EADDRINUSE "$1: the same name is free: $w"
	done
	both visitors 0 '[1-9]*' "$1: nobody came"
}

serve out plain $PY "$work/p/meet.py" @ plain $PY "$work/p/meet.py"
serve in cell -- $PY /p/meet.py @ plain $PY "$work/p/meet.py"
met "a name of the machine's"
serve in cell -- $PY /p/meet.py @ cell -- $PY /p/meet.py
met "a name of another run's"
serve in plain $PY "$work/p/meet.py" @ cell -- $PY /p/meet.py
met "a name of a run's, from the machine"

# Every name of the machine that there is to try, and every one of the cell's.
talk plain $PY "$work/p/meet.py" serve
hear 'ready .*'
cat >"$work/p/all.py" <<'PY'
import socket, sys
seen = [x.rstrip("\n").split(" ", 7)[7:] for x in open("/proc/net/unix")]
seen = [x[0].lstrip()[1:] for x in seen if x and x[0].lstrip()[:1] == "@"]
got = 0
for name in set(seen) | set(sys.stdin.read().split("\n")) - {""}:
    for kind in (1, 2, 5):
        try:
            socket.socket(1, kind).connect("\0" + name.replace("@", "\0"))
            got += 1
        except OSError:
            pass
print("all", got)
PY
sed -n 's/.* @/@/p' /proc/net/unix | cut -c2- >"$work/names"
cell -- $PY /p/all.py <"$work/names" >"$work/in" 2>&1
plain $PY "$work/p/all.py" <"$work/names" >"$work/out" 2>&1
tell end
hush none
both all 0 '[1-9][0-9]*' "all names that the machine's list has"

# One cell: its own names do work.
cat >"$work/p/own.py" <<'PY'
from attempt import *
import os
s = listener("\0own")
if os.fork() == 0:
    c = socket.socket(socket.AF_UNIX)
    c.connect("\0own")
    c.send(b"hello")
    os._exit(0)
say("own", s.accept()[0].recv(9).decode())
say("list", sum("@own" in x for x in open("/proc/net/unix")))
say("foreign", sum("@" in x and "@own" not in x
                   for x in open("/proc/net/unix")))
PY
cell -- $PY /p/own.py >"$work/in" 2>&1
is "$(said in own)" hello "a name of its own works"
like "$(said in list)" '[1-9]' "its list has it"
is "$(said in foreign)" 0 "and no other"

# Judge and answer: each of them serves, and the other one looks for it.
cat >"$work/verifier" <<'PY'
#!/usr/bin/python3
import json, os, socket, subprocess
def serve(name):
    s = socket.socket(socket.AF_UNIX)
    s.bind(name)
    s.listen(4)
    s.settimeout(0.2)
    return s
def visit(name):
    try:
        socket.socket(socket.AF_UNIX).connect(name)
        return "met"
    except OSError as e:
        return e.strerror
mine, own = serve("\0judge"), visit("\0judge")
p = subprocess.Popen([os.environ["BAILIFF_ANSWER"], "--", "/usr/bin/python3",
                      "solution.py"], stdin=subprocess.PIPE,
                     stdout=subprocess.PIPE, text=True)
told = p.stdout.readline().split(":")
found = visit("\0answer")
p.stdin.close()
told += p.stdout.readline().split(":")
p.wait()
mine.accept()           # its own visit
try:
    mine.accept()
    came = "somebody"
except TimeoutError:
    came = "nobody"
print(json.dumps({"score": 0, "passed": False, "details": " ".join(
    "%s=%s;" % x for x in [("own", own), ("there", told[0]), ("again", found),
        ("taken", told[1].strip()), ("left", told[2].strip()),
        ("came", came)])}))
PY
cat >"$work/a.py" <<'PY'
import socket
def bind(name):
    s = socket.socket(socket.AF_UNIX)
    try:
        s.bind(name)
        s.listen(4)
        return s, "free"
    except OSError as e:
        return s, e.strerror
try:
    socket.socket(socket.AF_UNIX).connect("\0judge")
    met = "met"
except OSError as e:
    met = e.strerror
a, b = bind("\0answer"), bind("\0judge")
print(met, b[1], sep=":", flush=True)
input_ended = open(0).read()
a[0].settimeout(0.2)
try:
    a[0].accept()
    print("somebody")
except TimeoutError:
    print("nobody")
PY
chmod +x "$work/verifier"
"$B" run --judge "$work/verifier" --answer "$work/a.py" --json \
    >"$work/result" 2>"$work/err"
is "$($PY -c 'import json, sys; print(json.load(sys.stdin).get("details"))' \
    <"$work/result")" "own=met; there=Connection refused; \
again=Connection refused; taken=free; left=nobody; came=nobody;" \
    "judge and answer do not meet; the judge meets itself"
done_testing
