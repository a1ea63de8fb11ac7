#!/bin/bash
# C05. What one run leaves for the next: files, System V and POSIX objects,
# keys, sockets, locks, processes.  Each store is private or emptied.
# More of the kind: a first run that meets its limit, or whose client is killed;
# odd names, folders closed to everybody; keys in six rings and in a file
# system's; access times of what is shown, times of the null device; a terminal;
# the machine's own stores; --tmpfs and --put.
# shellcheck disable=SC2086 # no blanks
. selftest/payload/cell.sh

in_cell=(/tmp /var/tmp /dev/shm /run /work /home/answer)
outside=()
for f in tmp vartmp shm run work home; do
	mkdir -m 0777 "$work/open/$f"
	outside+=("$work/open/$f")
done
nobody=()
[ $root = 1 ] && nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
# a session keyring of its own, for the keys to be nobody else's
cat >"$work/p/two.sh" <<'SH'
py=$1 payload=$2
shift 2
"$py" "$payload" leave "$@" >left
"$py" "$payload" look "$@"
"$py" "$payload" clear
exit 0
SH

# ------------------------------------------------------------- the control
space sh -c 'ip link set lo up; exec "$@"' sh "${nobody[@]}" \
    sh "$work/p/two.sh" $PY "$work/p/leave.py" \
    "${outside[@]}" >"$work/out" 2>"$work/err"
cp "$work/open/left" "$work/left.out"
is "$(grep -vE '^(hostname|uid) ' "$work/left.out" | sed 's/.* //' | sort |
    uniq -c | xargs)" "18 ok" "control: outside everything can be left"

leaves() {	# how a run goes that leaves everything
	"$@" -- $PY /p/leave.py leave "${in_cell[@]}" >"$work/left" 2>&1
}
runs_out() {
	cell -t 1 -- sh -c '"$@"; sleep 60' sh $PY /p/leave.py leave \
	    "${in_cell[@]}" >"$work/left" 2>"$work/err"
	[ $? = 124 ]
}
loses_client() {
	talk "$B" exec --ro-bind "$work/p:/p" -- sh -c '"$@"; sleep 60' sh \
	    $PY /p/leave.py leave "${in_cell[@]}"
	hear 'uid .*'
	echo "$line" >"$work/left"
	hear 'stay ok'
	local r=$?
	kill -9 "$talker"
	hush left
	sleep 0.3
	return $r
}

# The lowest free slot of the caller's is taken: both runs have the same user
# number, unless others run at the moment.
after() {	# TEXT COMMAND...
	local text=$1 same=0
	shift
	for _ in {1..10}; do
		if ! "$@"; then
			ok 1 "$text" "$work/left"
			return
		fi
		cell -- $PY /p/leave.py look "${in_cell[@]}" >"$work/in" 2>&1
		[ "$(said in uid)" = "$(said left uid)" ] && same=1 && break
	done
	if [ $same = 1 ]; then
		ok 0 "$text: the next run has the same user number"
	else
		skip "$text: the next run has the same user number" \
		    "others have cells at the moment"
	fi
	for i in "${!in_cell[@]}"; do
		both folder_$i absent found "$text: files in ${in_cell[i]}"
		is "$(said in use_$i)" ok "$text: and it can be used"
	done
	for w in shm sem msg; do
		both $w absent found "$text: System V $w"
		both list_$w absent found "$text: System V $w, by its list"
	done
	both mq absent found "$text: a POSIX queue"
	for w in session user user_session persistent request; do
		both key_$w absent found "$text: a key: $w"
	done
	both abstract absent found "$text: an abstract socket"
	both port absent found "$text: a port"
	both pty absent '.*' "$text: a terminal"
	both lock ok EAGAIN "$text: a lock on a file of /usr"
	both processes absent found "$text: processes"
	both hostname absent '.*' "$text: the host name"
}
after "left by a run that ended" leaves cell
for w in folder_{0..5} shm sem msg msg_send mq stay closed_/run closed_/work; do
	is "$(said left $w)" ok "it did leave: $w"
done
is "$(grep -c '^key_' "$work/left"):$(grep '^key_' "$work/left" |
    grep -vc ' EPERM$')" 6:0 "and no key, in no ring"
is "$(said left hostname)" EPERM "and no host name"
after "left by a run out of time" runs_out
after "left by a run whose client was killed" loses_client

# The machine itself.
leaves cell
plain $PY "$work/p/leave.py" look >"$work/in" 2>&1
for w in shm sem msg mq key_user abstract port; do
	both $w absent found "on the machine itself: $w"
done

# Reading leaves a time in a file, where its mount can be written.
mkdir "$work/shown" && echo x >"$work/shown/f"
chmod -R a+rX "$work/shown"
touch -a -d '2001-01-01' "$work/shown/f"
"$B" exec --ro-bind "$work/shown:/shown" -- cat /shown/f >/dev/null
is "$(stat -c %X "$work/shown/f")" "$(date -d 2001-01-01 +%s)" \
    "the time of the last reading of a file that is shown"
cat "$work/shown/f" >/dev/null
if [ "$(stat -c %X "$work/shown/f")" = "$(date -d 2001-01-01 +%s)" ]; then
	skip "control: outside it changes" "mounted without access times"
else
	ok 0 "control: outside it changes"
fi

# So would the null device, were the caller's own handed in as a stream.
cat >"$work/p/touch.py" <<'PY'
from attempt import *
for fd in 0, 1, 2:
    attempt("touch_%d" % fd, os.utime, "/proc/self/fd/%d" % fd)
PY
before=$(stat -c '%x %y %z' /dev/null)
cell -- $PY /p/touch.py </dev/null >"$work/in" 2>/dev/null
is "$(stat -c '%x %y %z' /dev/null)" "$before" "times of the null device"
plain $PY "$work/p/touch.py" </dev/null >"$work/out"
is "$(said out touch_0)" ok "control: outside they can be set"

# Keys that a file system keeps, by user number, for folders it encrypts:
# whoever can open anything on it can leave one (fscrypt, key of version 2).
cat >"$work/p/fskey.py" <<'PY'
from attempt import *
import struct
fd = os.open("/usr", os.O_RDONLY)
key = ctypes.create_string_buffer(struct.pack("=II32sII32s", 2, 0, b"", 64, 0,
                                              b"") + bytes(range(64)))
for bit in 0, 32, 47:
    for name, what in ("add", 0xc0506617), ("status", 0xc080661a):
        attempt("%s_%d" % (name, bit), syscall, 16, fd, what | (
            1 << bit if bit else 0), key)
PY
cell -- $PY /p/fskey.py >"$work/in" 2>&1
plain $PY "$work/p/fskey.py" >"$work/out" 2>&1
for bit in 0 32 47; do
	both add_$bit EPERM 'ok|ENOTSUP|ENOTTY|EINVAL' \
	    "a key in a file system's own ring: bits above: $bit"
done

# A folder in which two runs could meet: --tmpfs is each run's own.
"$B" exec --tmpfs /scratch -- touch /scratch/left
is "$("$B" exec --tmpfs /scratch -- ls -A /scratch)" "" \
    "files in a folder of --tmpfs"
mkdir "$work/put" && echo 1 >"$work/put/f"
"$B" exec --put "$work/put:put" -- sh -c 'echo 2 >put/f; touch put/left'
is "$(cat "$work/put/"*)" 1 "what was put in is a copy"
done_testing
