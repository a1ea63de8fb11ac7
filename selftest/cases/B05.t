#!/bin/bash
# B05. Eats memory: its own process meets its limit; judge, client, helper and
# other runs go on, and what it wrote before counts as its output.
# More of the kind: maps, files in memory, memory file descriptors, pipes and
# sockets full of data, threads' stacks, an environment, children that each have
# their share, in calls as well; results that are large for the judge.
# The memory of a whole cell is for control groups: where they can be had, in VMs.
. selftest/payload/judged.sh
runs

while IFS='|' read -r name code; do
	printf 'import ctypes, mmap, os, socket, sys, threading\nprint("before", flush=True)\n%b\nprint("after", flush=True)\n' \
	    "$code" | answer eats.py
	(cd "$work/open" && cp "$work/a/eats.py" . && ulimit -v 4000000 &&
	    plain timeout $((20 * slow)) $PY eats.py >"$work/o" 2>/dev/null)
	is "$(tail -n 1 "$work/o")" after "control: with more it goes on: $name"
	run runs.sh eats.py -m 128m -t $((5 * slow))
	gives "$zero" "$name"
	is "$(ask 'd["answers"][0]["stdout"]')" before "$name: what it wrote before counts"
	is "$(ask '[d["answers"][0]["limit"] in (None, "memory"),
	    d["answers"][0]["exit_code"] != 0,
	    d["answers"][0]["memory_peak_bytes"] <= 140 << 20,
	    d["judge"]["exit_code"], d["judge"]["limit"]]')" \
	    "[True, True, True, 0, None]" "$name: its end, and no one else's"
done <<'E'
a list that grows|x = []\nfor i in range(300): x.append(bytes(1 << 20))
one large block|x = bytearray(500 << 20)
a private map, page by page|m = mmap.mmap(-1, 300 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\nfor i in range(0, 300 << 20, 4096): m[i] = 1
many small objects|x = []\nfor i in range(3000000): x.append([i])
a string that doubles|s = "x"\nfor i in range(28): s += s
an integer that grows|n = 1 << (1 << 31)
threads' stacks|e = threading.Event(); threading.stack_size(64 << 20)\nt = [threading.Thread(target=e.wait, daemon=True) for i in range(8)]\nfor x in t: x.start()\ne.set()
the break|libc = ctypes.CDLL(None)\nlibc.sbrk.restype = ctypes.c_void_p\nif libc.sbrk(ctypes.c_long(400 << 20)) in (None, 2 ** 64 - 1): os._exit(9)
E

# Files in memory count as the cell's disk.
for where in /dev/shm /tmp /run /work /home/answer /var/tmp; do
	printf 'import os\nprint("before", flush=True)\nwith open("%s/big", "wb") as f:\n  for i in range(200): f.write(bytes(1 << 20))\nprint("after", flush=True)\n' \
	    "$where" | answer eats.py
	run runs.sh eats.py --disk 32m
	gives "$zero" "$where filled"
	is "$(ask '[d["answers"][0]["stdout"], d["answers"][0]["exit_code"]]')" \
	    "['before\n', 1]" "$where: refused in time"
	run runs.sh eats.py --disk 400m
	is "$(facts stdout exit_code | xargs)" "before after 0" \
	    "control: $where takes as much when it may"
done

# Called: each call's end is its own.
cat <<'E' | answer eats.py
x = []
def add(a, b):
    if a == -1:
        while True:
            x.append(bytes(1 << 20))
    return a + b
E
run "$usual" eats.py -m 200m
gives "$zero" "memory in one of three calls"
like "$(ask 'd["details"]')" "MemoryError.*|Answer.*" \
    "and only that one failed: $(ask 'd["details"]')"

# The judge has its own limit, and an answer can't bring it there.
while IFS='|' read -r name code; do
	printf '%b\n' "$code" | answer large.py
	run "$usual" large.py -m 400m -t $((5 * slow))
	gives "$zero" "for the judge: $name"
done <<'E'
a list of lists|def add(a, b): return [[] for i in range(3000000)]
one list, many times|x = []\nfor i in range(60): x = [x, x]\ndef add(a, b): return x
dicts|def add(a, b): return [{} for i in range(1000000)]
long strings|def add(a, b): return ["x" * 10000000] * 2
bytes|def add(a, b): return bytearray(15 << 20)
a long range|def add(a, b): return range(10 ** 18)
E

# Another run at the same time.
echo 'x = []
while True: x.append(bytes(1 << 20))' | answer eats.py
echo 'import time; time.sleep(0.5); x = bytearray(100 << 20); print("fine")' |
    answer fine.py
run runs.sh fine.py -m 256m &
one=$!
for i in 1 2 3; do
	"$B" run --judge "$work/v/runs.sh" --answer "$work/a/eats.py" -m 256m \
	    >/dev/null 2>&1
done
wait $one
is "$(ask 'd["details"]')" "0 fine" "another run at the same time goes on"

# What no process has alone, the cell's group counts.
of_cell() {	# NAME CODE WANT: limit, exit status, signal, whether some were killed
	printf 'import mmap, os, time\n%b\nprint("after", flush=True)\n' "$2" |
	    answer eats.py
	if ! "$B" exec --require cgroup -- /bin/true 2>"$work/why"; then
		skip "$1" "needs control groups, version 2: $(head -n 1 "$work/why")"
		return
	fi
	run runs.sh eats.py -m 64m --disk 16m -t $((5 * slow))
	gives "$zero" "$1"
	is "$(ask '[d["answers"][0][k] for k in ("limit", "exit_code", "signal")],
	    d["answers"][0]["evidence"]["oom_kills"] > 0')" "$3" "$1: its fact"
	is "$(ask 'd["judge"]["limit"], d["judge"]["exit_code"],
	    d["judge"]["evidence"]["oom_kills"]')" "(None, 0, 0)" \
	    "$1: the judge goes on"
	run runs.sh eats.py -m 400m --disk 400m -t $((5 * slow))
	is "$(facts limit exit_code stdout | xargs)" "None 0 after" \
	    "control: $1: with more it goes on"
}
of_cell "a shared map, page by page" \
    'm = mmap.mmap(-1, 200 << 20)\nfor i in range(0, 200 << 20, 4096): m[i] = 1' \
    "(['memory', None, 9], True)"
of_cell "the memory of a whole cell" \
    'r, w = os.pipe()\nfor i in range(6):\n  if os.fork() == 0:\n    x = bytearray(40 << 20)\n    os.write(w, b"x")\n    time.sleep(1)\n    os._exit(0)\nbad = sum(os.wait()[1] == 9 for i in range(6))\nif bad: os._exit(9)' \
    "([None, 9, None], True)"
done_testing
