#!/bin/bash
# A06. Writes into the judge or the harness: no process of the run can be
# traced, written to, or robbed of a descriptor by the answer.
# More of the kind: seize as well as attach; reading by process_vm_readv; by a
# numeric sweep as well as by the list; signals; priorities, limits, affinity;
# while it is called and while it is run; another cell's process 1.
. selftest/payload/judged.sh

cat >"$work/touch.py" <<'E'
import ctypes, errno, os, resource, signal
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
class IoVec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]
def call(*a):
    ctypes.set_errno(0)
    return libc.syscall(*[ctypes.c_long(x) if isinstance(x, int) else x
                          for x in a])
def pids():
    me = os.getpid()
    got = {int(p) for p in os.listdir("/proc") if p.isdigit()}
    got |= {1, os.getppid()}
    if os.getcwd() == "/work":
        got |= set(range(1, 400))
    else:                       # outside: none but our own parents
        got = {os.getppid()}
    return sorted(got - {me, 0})
def attach(p):
    good = call(101, 16, p, 0, 0) == 0
    if good:
        os.waitpid(p, 0x40000000)
        call(101, 17, p, 0, 0)
    return good
def seize(p):
    good = call(101, 0x4206, p, 0, 0) == 0
    if good:                    # it is ours until we end: end a child instead
        call(101, 0x4207, p, 0, 0)
        try:
            os.waitpid(p, 0x40000000)
            call(101, 17, p, 0, 0)
        except OSError:
            pass
    return good
def where(p):
    for line in open("/proc/%d/maps" % p):
        if " rw" in line:
            return int(line.split("-")[0], 16)
def vm(number):
    def go(p):
        try:
            at = where(p)
        except (OSError, TypeError):
            at = None
        buf = ctypes.create_string_buffer(8)
        mine = IoVec(ctypes.addressof(buf), 8)
        if at and number == 311:
            call(310, p, ctypes.byref(mine), 1,
                 ctypes.byref(IoVec(at, 8)), 1, 0)
        theirs = IoVec(at or 0x10000, 8)
        return call(number, p, ctypes.byref(mine), 1, ctypes.byref(theirs),
                    1, 0) == 8
    return go
def mem(p):
    try:
        os.close(os.open("/proc/%d/mem" % p, os.O_RDWR))
        return True
    except OSError:
        return False
def pidfd(p):
    fd = call(434, p, 0)
    if fd < 0:
        return False
    got = call(438, fd, 1, 0)
    if got >= 0:
        os.close(got)
    os.close(fd)
    return got >= 0
def sig(p):
    try:
        os.kill(p, 0)
        return True
    except OSError:
        return False
def limits(p):
    try:
        resource.prlimit(p, resource.RLIMIT_NOFILE)
        return True
    except OSError:
        return False
def nice(p):
    try:
        os.setpriority(os.PRIO_PROCESS, p, os.getpriority(os.PRIO_PROCESS, p))
        return True
    except OSError:
        return False
def files(p):
    try:
        return len(os.listdir("/proc/%d/fd" % p)) > 0
    except OSError:
        return False
def cpus(p):
    try:
        os.sched_setaffinity(p, os.sched_getaffinity(p))
        return True
    except OSError:
        return False
def touch():
    out = []
    for name, way in [("attach", attach), ("seize", seize), ("read", vm(310)),
                      ("write", vm(311)), ("mem", mem), ("pidfd", pidfd),
                      ("kill", sig), ("limits", limits), ("nice", nice),
                      ("affinity", cpus), ("files", files)]:
        got = [p for p in pids() if way(p)]
        out.append("%s %s\n" % (name, got or "none"))
    return out
if __name__ == "__main__":
    print("".join(touch()), end="")
E
cp "$work/touch.py" "$work/a/touch.py"
verifier touched.py <<'E'
import importlib.util, json, os, subprocess, sys
def main():
    answer = os.environ.get("BAILIFF_ANSWER")
    if os.environ.get("HOW") == "called":
        spec = importlib.util.spec_from_file_location("s", sys.argv[1])
        mod = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(mod)
        got = "".join(mod.touch())
    else:
        p = subprocess.run(([answer, "-t", "20", "--", "python3"] if answer
                            else [sys.executable]) + [sys.argv[1]],
                           stdout=subprocess.PIPE, check=False)
        got = p.stdout.decode()
    print(json.dumps({"score": 0, "passed": False, "details": got}))
if __name__ == "__main__":
    main()
E
alone_s=20 alone touched.py touch.py >/dev/null
$PY -c 'import json, sys
for line in open(sys.argv[1]):
    if line.startswith("{"):
        print(json.loads(line)["details"])' "$work/alone" >"$work/outside"
for how in called run; do
	HOW=$how run touched.py touch.py -e HOW -t 20
	gives "$zero" "an answer that reaches for the others: $how"
	ask 'd["details"]' >"$work/in"
	cp "$work/outside" "$work/out"
	for w in attach seize read write mem pidfd kill limits nice affinity \
	    files; do
		# a machine may let nobody trace his own parent
		both $w none '\[[0-9]+\]' "$how: $w" none
	done
done
like "$(said out kill) $(said out limits) $(said out files)" \
    '\[[0-9]+\] \[[0-9]+\] \[[0-9]+\]' \
    "control: outside, its parent can be reached"
done_testing
