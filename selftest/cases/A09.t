#!/bin/bash
# A09. Output that is not a file: pipes, sockets, folders, devices, holes of a
# terabyte.  Nothing waits, nothing without a bound is read.
# More of the kind: a pipe with a reader; a socket that listens; /dev/fd; files
# of many holes, many files, deep folders, odd names; files without any rights;
# the same for exec --get.
. selftest/payload/judged.sh

verifier any.sh <<'E'
#!/bin/sh
"$BAILIFF_ANSWER" -t 9 -- python3 "$1" >/dev/null
echo '{"score": 0, "passed": false}'
E
echo 'import os; os.mkdir("artifacts")' | answer nothing.py
ms() {
	echo $(($(date +%s%N) / 1000000))
}
collect() {	# NAME OPTIONS: the answer from stdin; what came out in $got
	{ printf '%s\n' 'import os, socket, stat' 'os.mkdir("artifacts")' \
	    'os.chdir("artifacts")'; cat; } | answer "$1.py"
	local try most=$((1500 * slow))
	# 256 MB: nothing takes an emulated processor longer than to copy
	[ "$1" != many_holes ] || most=$((most * slow))
	for try in 1 2 3; do	# the machine has others to serve, too
		rm -rf "$work/got"
		run any.sh "$1.py" --artifacts "$work/got" "${@:2}"
		# of the whole run, less what the answer itself took
		took=$(ask 'd["wall_ms"] - sum(a["wall_ms"]
		    for a in d["answers"])')
		[ "$took" -lt $most ] && break
	done
	got=$(find "$work/got" -mindepth 1 -printf '%P %y %s\n' | sort | xargs)
	gives "$zero" "$1: the verdict stands"
	[ "$took" -lt $most ]
	ok $? "$1: collected within a second ($took ms, try $try)"
}
said_so() {
	is "$(ask 'len(d["warnings"]) >= 1')" True "$1: and the result says so"
}
collect plain <<'E'
open("a", "w").write("hello")
E
is "$got" "a f 5" "control: a plain file comes out"
is "$(cat "$work/got/a")" hello "with its bytes"
for what in 'pipe|os.mkfifo("output.txt")' \
    'socket|socket.socket(socket.AF_UNIX).bind("output.txt")' \
    'listening|s = socket.socket(socket.AF_UNIX); s.bind("output.txt"); s.listen()' \
    'device_link|os.symlink("/dev/zero", "output.txt")' \
    'random_link|os.symlink("/dev/urandom", "output.txt")' \
    'stdin_link|os.symlink("/dev/stdin", "output.txt")' \
    'fd_link|os.symlink("/proc/self/fd/0", "output.txt")' \
    'kmsg_link|os.symlink("/proc/kmsg", "output.txt")'; do
	collect "${what%%|*}" <<<"${what#*|}"
	is "$got" "" "${what%%|*}: nothing came out"
	said_so "${what%%|*}"
done
# what the reader would have waited for without looking
mkfifo "$work/open/fifo"
timeout 1 cat "$work/open/fifo" >/dev/null
is $? 124 "control: a reader that doesn't look waits for a pipe"
timeout 1 cat /dev/zero >/dev/null
is $? 124 "control: and reads on and on from a device"

collect pipe_with_reader <<'E'
os.mkfifo("output.txt")
import subprocess
subprocess.Popen(["cat", "output.txt"], stdin=subprocess.DEVNULL)
E
is "$got" "" "a pipe with a reader: nothing came out"
said_so pipe_with_reader
collect folder <<'E'
os.mkdir("output.txt")
E
like "$got" "output.txt d [0-9]*" "a folder of that name is a folder"
collect device <<'E'
try:
    os.mknod("output.txt", stat.S_IFCHR | 0o666, os.makedev(1, 5))
except OSError:
    os.symlink("/dev/null", "output.txt")
E
is "$got" "" "a device: nothing came out"
said_so device
collect holes --disk 64m <<'E'
f = open("output.txt", "wb")
try:
    f.truncate(1 << 40)
except OSError:
    f.truncate(60 << 20)        # above the limit of a file
E
size=$(stat -c %b "$work/got/output.txt" 2>/dev/null || echo 0)
[ "$size" -le 131072 ]
ok $? "holes: no more than 64 MB came out of it ($got)"
collect many_holes --disk 64m <<'E'
for i in range(40):
    with open("h%d" % i, "wb") as f:
        f.truncate(40 << 20)
E
[ "$(du -sk "$work/got" | cut -f 1)" -le 263000 ]
ok $? "many holes: no more than 256 MB came out"
collect no_rights <<'E'
open("a", "w").write("x")
os.chmod("a", 0)
os.mkdir("d")
open("d/b", "w").write("y")
os.chmod("d", 0)
open("c", "w").write("z")
os.chmod("c", 0o4777)
E
is "$(find "$work/got" -perm /6022 | wc -l)" 0 \
    "no rights: nothing that came out gives rights"
rm -rf "$work/got"
collect deep <<'E'
for i in range(300):
    os.mkdir("d")
    os.chdir("d")
open("f", "w").write("x")
E
[ "$(find "$work/got" | wc -l)" -lt 302 ]
ok $? "deep: it ended"
rm -rf "$work/got"
collect odd_names <<'E'
for name in (b"-rf", b"a\nb", b"\xff\xfe", b"..a", b" ", b"$(id)", b"\x1b[2J",
             b"x" * 255):
    open(name, "w").write("x")
E
[ -e "$work/got/-rf" ] && [ -e "$work/got/..a" ] && [ -e "$work/got/ " ] &&
    [ -e "$work/got/\$(id)" ] && [ "$(find "$work/got" -type f | wc -l)" -ge 5 ]
ok $? "odd names: those that can be come out, the others are left"
is "$(ask 'd["verdict"]')" failed "odd names: the result is a document"

# Each of several cells has much: what goes while the judge waits is bounded, and
# the judge has its time.
answer heaps.py <<E
import os
os.mkdir("artifacts")
for i in range($((12000 / slow))):
    with open("artifacts/%d" % i, "w") as f:
        f.write("x" * 100)
E
verifier calls.sh <<'E'
#!/bin/sh
for i in 1 2 3; do
	"$BAILIFF_ANSWER" --fresh -- python3 "$1" || exit 2
done
echo '{"score": 0, "passed": false}'
E
rm -rf "$work/got"
run calls.sh heaps.py --artifacts "$work/got" --judge-timeout $((5 * slow)) \
    -t $((2 * slow))
gives "$zero" "many files of three cells"
is "$(ask '[a["exit_code"] for a in d["answers"]]')" "[0, 0, 0]" \
    "many files of three cells: each answer has its time"
is "$(ask 'sum("artifacts" in w for w in d["warnings"]) > 0')" True \
    "many files of three cells: that some were left out is said"
rm -rf "$work/got"
# Of those that the answers' deadline ends it is copied when the judge is over,
# whose grace is short; and those behind them get no cell any more.
answer sleeper.py <<'E'
import os, time
os.mkdir("artifacts")
for i in range(3000):
    with open("artifacts/%d" % i, "w") as f:
        f.write("x" * 100)
time.sleep(1000)
E
verifier many.py <<'E'
import bailiff, json, os
n, workers = map(int, os.environ["MANY"].split())
r = bailiff.run_many([["python3", "solution.py"]] * n, workers=workers)
print(json.dumps({"score": 0, "passed": False, "details": str(
    all(x.limit == "time" for x in r))}))
E
for many in "32 16" "$((400 / slow)) 2"; do
	rm -rf "$work/got"
	MANY=$many run many.py sleeper.py --artifacts "$work/got" -e MANY \
	    --judge-timeout $((8 * slow)) -t $((100 * slow))
	gives "$zero" "until the deadline: ${many/ / at }"
	is "$(ask 'd["details"]')" True "until the deadline: ${many/ / at }: time"
	[ -n "$(ls "$work/got" 2>/dev/null)" ]
	ok $? "until the deadline: ${many/ / at }: there are artifacts"
done
# More at once than there can be cells: those that wait are told that it is late.
sed 's/"python3", "solution.py"/"sh", "-c", "mkdir artifacts; sleep 1000"/' \
    "$work/v/many.py" | verifier wait.py
rm -rf "$work/got"
MANY="140 140" run wait.py sleeper.py --artifacts "$work/got" -e MANY \
    --judge-timeout $((8 * slow)) -t $((100 * slow))
gives "$zero" "until the deadline, and some without a cell"
is "$(ask 'd["details"]')" True "until the deadline, and some without a cell: time"
rm -rf "$work/got"

get() {		# WANT NAME SRC SCRIPT
	local from
	rm -rf "$work/g"
	from=$(ms)
	timeout $((20 * slow)) "$B" exec "${@:5}" --get "$3:$work/g" -- python3 -c "import os, socket
$4" >"$work/o" 2>"$work/err"
	is "$? $(find "$work/g" 2>/dev/null | wc -l)" "$1" "--get: $2"
	[ $(($(ms) - from)) -lt $((2500 * slow)) ]
	ok $? "--get: $2: at once"
}
get "125 0" "a pipe without a writer" o 'os.mkfifo("o")'
get "125 0" "a socket" o 'socket.socket(socket.AF_UNIX).bind("o")'
get "125 0" "a link to a device" o 'os.symlink("/dev/zero", "o")'
get "125 0" "a device of the cell's" /dev/zero 'pass'
get "125 0" "an endless file" /proc/kmsg 'pass'
get "0 1" "a folder" o 'os.mkdir("o")'
get "125 0" "a folder with a pipe in it" o 'os.mkdir("o"); os.mkfifo("o/p")'
get "125 0" "holes of more than a cell may hold" o 'os.mkdir("o")
for i in range(40): open("o/%d" % i, "wb").truncate(40 << 20)' --disk 64m
done_testing
