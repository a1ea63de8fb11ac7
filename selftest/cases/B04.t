#!/bin/bash
# B04. Floods: the fact is limit output, the first part is kept and marked as
# cut, the harness grows by no more than what it keeps, and the judge judges.
# More of the kind: one byte at a time; many writers; a line without an end; a
# flood and then an end; the judge's channel; printing while called; floods at
# the import; a judge that does not read; exec with and without --json.
. selftest/payload/judged.sh
runs

# The peak memory of the client itself, in KiB.
run_rss() {	# VERIFIER ANSWER [OPTION...]
	local v=$work/v/$1 a=$work/a/$2
	shift 2
	[ -e "$v" ] || v=$usual
	rss=$($PY -c 'import re, subprocess, sys, time
with open(sys.argv[1], "wb") as o, open(sys.argv[2], "wb") as e:
    p, most = subprocess.Popen(sys.argv[3:], stdout=o, stderr=e), 0
    while p.poll() is None:
        with open("/proc/%d/status" % p.pid) as f:
            got = re.search("VmHWM:\\s*(\\d+)", f.read())
        most = int(got[1]) if got else most
        time.sleep(0.005)
print(p.returncode, most)' "$work/out" "$work/err" \
	    "$B" run --judge "$v" --answer "$a" --json "$@")
	st=${rss% *} rss=${rss#* }
}
echo 'print("hello")' | answer quiet.py
run_rss runs.sh quiet.py
quiet=$rss
is "$(facts limit stdout_truncated stdout_bytes)" "None False 6" \
    "control: an answer that says little is not cut"

while IFS='|' read -r name stream code; do
	printf 'import os, sys\nB = b"y\\n" * 32768\n%b\n' "$code" | answer flood.py
	# outside it never ends, or says far more than a harness may keep
	(cd "$work/open" && plain timeout -s KILL 2 $PY /dev/fd/9 9<"$work/a/flood.py" 2>&1 |
	    head -c 20000000 | wc -c >"$work/many")
	[ "$(cat "$work/many")" -gt 5000000 ] || [ "$name" = "byte by byte" ]
	ok $? "control: outside there is no end of it: $name"
	# a MiB of single bytes takes its time
	wait=$((5 * slow))
	[ "$name" = "byte by byte" ] && wait=$((5 * slow ** 3))
	run_rss runs.sh flood.py -t $wait
	gives "$zero" "$name"
	is "$(facts limit signal)" "output 9" "$name: limit output"
	is "$(facts "${stream}_bytes" "${stream}_truncated")" "1048576 True" \
	    "$name: counted up to its bound, and marked as cut"
	is "$(ask "len(d['answers'][0]['$stream'])")" 4096 "$name: the first part"
	[ $((rss - quiet)) -lt 6144 ]
	ok $? "$name: the client grew by $((rss - quiet)) KiB"
done <<'E'
yes|stdout|os.execvp("yes", ["yes"])
yes to standard error|stderr|os.dup2(2, 1); os.execvp("yes", ["yes"])
by turns|stdout|while True: os.write(1, B); os.write(2, b"e" * 64)
by turns, errors first|stderr|while True: os.write(2, B); os.write(1, b"o" * 64)
a line of a GiB|stdout|for i in range(1024): os.write(1, b"x" * (1 << 20))
ten writers|stdout|for i in range(10):\n  if os.fork() == 0:\n    while True: os.write(1, B)\nos.wait()
nothing but NULs|stdout|while True: os.write(1, bytes(65536))
byte by byte|stdout|while True: sys.stdout.write("x") and sys.stdout.flush()
large writes|stdout|while True: os.write(1, b"z" * (8 << 20))
E
printf 'import os\nos.write(1, b"x" * 1048576)\n' | answer exact.py
run runs.sh exact.py
is "$st $(facts limit stdout_bytes exit_code)" "1 None 1048576 0" \
    "control: just as much as may be said is no flood"
printf 'import os\nos.write(1, b"x" * 1048577)\n' | answer exact.py
run runs.sh exact.py
is "$st $(facts limit stdout_bytes)" "1 output 1048576" "one byte more is one"
# the limit of one stream never blocks the other
printf 'import os\nfor i in range(900): os.write(2, b"e" * 1024)\nos.write(1, b"said")\n' |
    answer both.py
run runs.sh both.py
is "$(facts stdout limit)" "said None" "much on one stream, a little on the other"

# Called.
while IFS='|' read -r name code; do
	printf 'import os, sys\n%b\n' "$code" | answer flood.py
	run_rss usual.py flood.py -t $((3 * slow)) --judge-timeout $((20 * slow))
	gives "$zero" "called: $name"
	[ $((rss - quiet)) -lt 6144 ]
	ok $? "called: $name: the client grew by $((rss - quiet)) KiB"
	[ "$(ask 'd["judge"]["memory_peak_bytes"]')" -lt $((200 << 20)) ]
	ok $? "called: $name: and the judge to $(ask \
	    'd["judge"]["memory_peak_bytes"] >> 20') MiB"
done <<'E'
a flood at the import|while True: os.write(1, b"y" * 65536)
a flood of errors|def add(a, b):\n  while True: os.write(2, b"y" * 65536)
prints in a call|def add(a, b):\n  while True: print("y" * 100000)
a flood on every descriptor|def add(a, b):\n  while True:\n    for i in range(1, 20):\n      try: os.write(i, b"{}" * 32768)\n      except OSError: pass
a string of 1 GiB|def add(a, b):\n  return "x" * (1 << 30)
a huge list|def add(a, b):\n  return list(range(20000000))
bytes of 100 MiB|def add(a, b):\n  return bytes(100 << 20)
an exception's text of 200 MiB|def add(a, b):\n  raise ValueError("x" * (200 << 20))
E

# A judge that doesn't read, and one that reads late.
verifier late.py <<'E'
import json, os, subprocess, time
def main():
    p = subprocess.Popen([os.environ["BAILIFF_ANSWER"], "-t", "1", "--",
                          "python3", "solution.py"], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1.5)
    out, err = p.communicate()
    print(json.dumps({"score": 0, "passed": False, "details": "%d %d" % (
        p.returncode, len(out))}))
if __name__ == "__main__":
    main()
E
echo 'import os; os.execvp("yes", ["yes"])' | answer flood.py
run late.py flood.py
gives "$zero" "a judge that reads late"

# exec
timeout 20 "$B" exec --json -- yes >"$work/out"
is "$? $(ask '"%s %s %d" % (d["limit"], d["stdout_truncated"],
    len(d["stdout"]) <= 1 << 20)')" "137 output True 1" "exec --json: yes"
timeout 20 "$B" exec -- yes | wc -c >"$work/n"
is "${PIPESTATUS[0]} $(cat "$work/n")" "137 1048576" "exec: yes"
done_testing
