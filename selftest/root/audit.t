#!/bin/bash
# The log of sessions and cells: bailiff-audit, started as systemd does, writes
# what helpers tell; and nothing that it does, or does not, is of any weight for
# them.  Its /dev/log is the test's own, in a mount namespace.
set -u

# shellcheck source=selftest/payload/tap.sh
. selftest/payload/tap.sh
B=${BUILD:-build/release}
b=$B/bailiff
place=/run/bailiff/audit
if ! command -v systemd-socket-activate >/dev/null; then
	echo "1..0 # SKIP systemd-socket-activate is not installed"
	exit 0
fi
# A /run/bailiff of its own, or it would hear other tests' helpers; the slots are
# those of all.
[ "${1-}" = inside ] || exec unshare -m --propagation private "$0" inside
[ -e /run/bailiff/slots ] || "$b" exec -- true
work=$(mktemp -d) || exit 1
mkdir "$work/real" && mount --bind /run/bailiff "$work/real" &&
    mount -t tmpfs -o mode=700 tmpfs /run/bailiff &&
    : >/run/bailiff/slots && mount --bind "$work/real/slots" \
    /run/bailiff/slots && umount "$work/real" || exit 1
log=$work/log
listener=
ended() {	# what was started, by its number
	[ -z "$listener" ] || kill "$listener" 2>/dev/null
	wait
	rm -rf "$work"
}
trap ended EXIT

cat >"$work/syslog.py" <<'END'
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
s.bind(sys.argv[1])
with open(sys.argv[2], "a", encoding="utf-8") as f:
    f.write("ready\n")
    f.flush()
    while True:
        f.write(s.recv(4096).decode() + "\n")
        f.flush()
END
cat >"$work/start" <<'END'
#!/bin/sh -e
# its own /dev, with a log in it
mkdir "$1/dev"
mount -t tmpfs tmpfs "$1/dev"
for f in null zero urandom; do cp -a "/dev/$f" "$1/dev"; done
/usr/bin/python3 "$1/syslog.py" "$1/dev/log" "$1/log" &
l=$!
until [ -s "$1/log" ]; do sleep 0.1; done
mount --bind "$1/dev" /dev
trap 'kill $l $a; exit' TERM
systemd-socket-activate --seqpacket -l "$2" "$3/bailiff-audit" 2>"$1/err" &
a=$!
echo $a >"$1/pid"
wait
END
# The lines of event so far, with what varies taken out.
lines() {	# EVENT
	sed -n "s/.*bailiff-audit: \(event=$1 .*\)/\1/p" "$log" | sed -E \
	    's/(session|helper_pid|slot|cell)=[0-9]+ ?/\1 /g; s/[0-9a-f]{64}/DIGEST/'
}
count() {	# EVENT: how many there are, when there are WANT or after 5 s
	local i
	for i in {1..50}; do
		[ "$(lines "$1" | wc -l)" -ge "$2" ] && break
		sleep 0.1
	done
	lines "$1" | wc -l
}

"$b" exec -- true
is $? 0 "control: nobody listens: a cell"
unshare -m --propagation private sh "$work/start" "$work" $place "$B" &
listener=$!
for _ in {1..100}; do
	[ -S $place ] && [ -s "$work/pid" ] && break
	sleep 0.1
done
chmod 600 $place
"$b" exec -- true
is "$(count session_end 1)" 1 "a session" || cat "$work/err"
is "$(lines 'session_start')" \
    "event=session_start session helper_pid uid=0 gid=0 way=root slots=1024 rules=builtin" \
    "its start"
is "$(lines cell_start)" "event=cell_start session helper_pid uid=0 cell slot \
role=answer isolation=uid,net,mount,pid,ipc,seccomp" "its cell"
like "$(lines cell_end)" "event=cell_end session helper_pid uid=0 cell slot \
how=(exited|killed) status=[0-9]+" "the cell's end"
is "$(lines session_end)" \
    "event=session_end session helper_pid uid=0 cells=1 refused=0 unheard=0" "its end"
is "$(sed -n 's/^<\([0-9]*\)>.*event=cell_start.*/\1/p' "$log")" \
    $((10 * 8 + 6)) "as authpriv.info"
words() {	# EVENT NAME: its values
	sed -n "s/.*event=$1 .* $2=\([^ ]*\).*/\1/p" "$log" | xargs
}
is "$(words cell_start session) $(words cell_end cell)" \
    "$(words session_end session) 1" "all of one session and of its first cell"

: >"$log"
"$b" run -q examples/sum --answer examples/sum/answers/right.py >/dev/null
is "$? $(count session_end 1)" "0 1" "a run"
is "$(words cell_start role)" "judge answer" "has a judge's cell and an answer's"
is "$(words session_end cells) $(words session_end unheard)" "2 0" "and no more"
: >"$log"
"$b" exec -m 9000g -- true 2>/dev/null
is "$? $(count session_end 1)" "125 1" "a refusal"
is "$(lines cell_refused)" "event=cell_refused session helper_pid uid=0 step=40 \
object=3 error=EDQUOT" "is told, with its reason"
: >"$log"
mkdir "$work/env"
echo x >"$work/env/task.md"
cat >"$work/env/verifier.py" <<'END'
import json
print(json.dumps({"score": 1, "passed": True}))
END
"$b" run -q --judge-net host "$work/env" --answer examples/sum/answers/right.py \
    >/dev/null
is "$? $(count session_end 1)" "0 1" "a judge with the host's network"
is "$(words cell_start isolation)" \
    "uid,mount,pid,ipc,seccomp uid,net,mount,pid,ipc,seccomp" "is told as it is"

# --- a helper that is killed, a log that sleeps, somebody else -----------------

: >"$log"
"$b" exec -- sleep 30 >/dev/null 2>&1 &
client=$!
is "$(count cell_start 1)" 1 "a cell that sleeps"
kill -KILL "$(words cell_start helper_pid)"
wait $client
is "$(count session_end 1)" 1 "its helper is killed: the session's end"
is "$(words session_end cells) $(words session_end unheard)" "1 1" \
    "says that the cell's was not heard"
: >"$log"
audit=$(cat "$work/pid")
kill -STOP "$audit"
from=$(date +%s%N)
st=0
for _ in {1..20}; do
	"$b" exec -- true || st=1
done
cat >"$work/env/verifier.py" <<'END'
import bailiff, json
r = bailiff.run_many([["true"]] * 300, workers=4)
print(json.dumps({"score": 1, "passed": all(x.returncode == 0 for x in r)}))
END
"$b" run --json -t 100 "$work/env" --answer examples/sum/answers/right.py \
    >"$work/out"
is "$st $?" "0 0" "a log that sleeps stops nobody" || cat "$work/out"
kill -CONT "$audit"
is "$(count session_end 21)" 21 "awake again it has every session"
[ "$(words session_end cells | tr ' ' '\n' | sort -n | tail -n 1)" -ge \
    "$(words cell_start cell | tr ' ' '\n' | sort -n | tail -n 1)" ]
ok $? "the largest one with as many cells as it was told at least"
[ "$(words session_end unheard | tr ' ' '\n' | sort -n | tail -n 1)" -gt 0 ]
ok $? "and what had no room is counted ($(words session_end unheard |
    tr ' ' '\n' | sort -n | tail -n 1))"
: >"$log"
cat >"$work/say.py" <<'END'
import os, socket, sys
if len(sys.argv) > 2:
    os.setresuid(65534, 65534, 65534)
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(sys.argv[1])
s.settimeout(5)
s.send(b"x" * 256)
sys.exit(0 if s.recv(1) == b"" else 1)
END
/usr/bin/python3 "$work/say.py" $place 2>"$work/err"
is $? 0 "what is no helper's word ends the connection"
! /usr/bin/python3 "$work/say.py" $place nobody 2>"$work/err" &&
    grep -q 'PermissionError' "$work/err"
ok $? "another user can't connect" "$work/err"
chmod 711 /run/bailiff
chmod 666 $place
/usr/bin/python3 "$work/say.py" $place nobody 2>"$work/err"
st=$?
chmod 600 $place
chmod 700 /run/bailiff
[ $st = 0 ] || grep -q 'ConnectionReset\|BrokenPipe' "$work/err"
ok $? "nor is heard where somebody has opened the way" "$work/err"
"$b" exec -- true
is "$? $(count cell_end 1)" "0 1" "and it goes on"

# --- one caller with more than her share ----------------------------------------

: >"$log"
cat >"$work/flood.py" <<'END'
import socket, struct, sys
def rep(kind, status, body):
    at = (40, 3) if status else (0, 0)
    return (struct.pack("<IHHIIiIII", 0x6c696162, 2, kind, 1, 0, status, *at,
                        0) + body).ljust(256, b"\0")
place, first, last, sessions, each = sys.argv[1], *map(int, sys.argv[2:])
for uid in range(first, last + 1):          # as helpers say it of these users
    for i in range(sessions):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.connect(place)
        s.send(rep(1, 0, struct.pack("<6I", 1, uid, uid, 64, 0, 0) + bytes(32)))
        for j in range(each):
            s.send(rep(2, -122, b""))
        s.close()
END
flood() {	# FIRST-UID LAST-UID SESSIONS REFUSALS-OF-EACH
	/usr/bin/python3 "$work/flood.py" $place "$@"
}
told() {	# PATTERN [NUMBER]: how many lines, when there are so many or after 10 s
	local i k=0
	for ((i = 0; i < 100; i++)); do
		k=$(grep -c "$1" "$log")
		[ "$k" -ge "${2:-1}" ] && break
		sleep 0.1
	done
	echo "$k"
}
flood 77777 77777 150 100
st=$?
"$b" exec -- true
st+=" $?"
is "$st $(told 'event=session_end .* uid=0 ')" "0 0 1" \
    "15,000 refusals of one caller's: another's session is told"
is "$(told 'event=session_[se].* uid=77777 ' 300)" 300 \
    "refusals hide no session of hers"
n_lines=$(grep -c 'event=[cs].* uid=77777' "$log")
[ "$n_lines" -ge 1300 ] && [ "$n_lines" -le 2300 ]
ok $? "hers have their bound: $n_lines lines of 15,300"
of_all() {	# told, or told that they were not
	awk '/event=[cs].* uid=77777/ { n++ }
	    /event=dropped uid=77777 / { sub(/.*lines=/, ""); n += $0 }
	    END { print n }' "$log"
}
for _ in {1..100}; do
	[ "$(of_all)" -ge 15300 ] && break
	sleep 0.1
done
is "$(of_all)" 15300 "and how many were not told is told, though she is gone"

# More callers than it keeps in mind, of which one has more than her share.
: >"$log"
flood 80001 80600 1 0
is "$? $(told 'event=session_end .* uid=80[0-9]* ' 600)" "0 600" \
    "600 callers: each one's session is told"
sleep 2		# till they have all they may again
flood 90001 90001 150 100
flood 90002 90002 1 5
is "$? $(told 'event=c.* uid=90002 ' 5) $(told 'event=session_end .* uid=90002 ')" \
    "0 5 1" "then one with too many, and another one"
[ "$(told 'event=dropped uid=90001 ')" -gt 0 ] &&
    ! grep 'event=dropped' "$log" | grep -qv 'uid=90001 '
ok $? "only hers are left out, and said to be hers"

"$B/bailiff-audit" 2>"$work/err"
is "$? $(wc -l <"$work/err")" "1 1" "by hand: a sentence"
echo "1..$n"
