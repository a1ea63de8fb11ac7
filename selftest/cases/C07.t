#!/bin/bash
# C07. The caller's terminal: the command has none of it, can't type into one,
# and what it prints to one has no effect there.
# More of the kind: typing with bits above the number of the ioctl and of the
# descriptor, line discipline, console; signals of the terminal; 8-bit and
# two-byte controls, cut in two; text turned around; lines drawn over; the
# client's own complaints and results; the terminal's settings afterwards.
# shellcheck disable=SC2016,SC2086 # inner shells; no blanks
. selftest/payload/cell.sh

# What is shown on a terminal goes to $work/shown.
on_terminal() {	# [-i INPUT] COMMAND...
	local typed=()
	if [ "$1" = -i ]; then
		typed=("$2")
		shift 2
	fi
	timeout 30 $PY "$work/p/terminal.py" "$work/shown" "${typed[@]}" -- "$@"
}
words() {	# of a payload, to FILE
	tr -d '\r' <"$work/shown" >"$work/$1"
}

# --- having one, and typing into it ---------------------------------------------
on_terminal sh -c '"$@" "$OUTER"; exit $?' sh "$B" exec --ro-bind "$work/p:/p" -- \
    $PY /p/ttys.py try
words in
on_terminal sh -c '"$@" "$OUTER"; exit $?' sh "${as_plain[@]}" \
    $PY "$work/p/ttys.py" try
words out
both dev_tty ENXIO ok "a controlling terminal"
both stat none one "the same by /proc"
both streams 000 111 "its streams are no terminal"
both session own theirs "a session of its own"
both foreground ENOTTY ok "the terminal's foreground"
both outer ENOENT 'ok|EACCES' "the caller's terminal by name"
for w in console tty0 tty1 ttyS0 vcs vcsa1; do
	is "$(said in dev_$w)" ENOENT "a terminal of the machine's: $w"
done
both pts 0 '[1-9].*' "terminals of others in a listing"
both own hello hello "a terminal that it makes works"
both own_control ok ok "also as its controlling one"
both own_dev_tty ok ok "also by /dev/tty"
old='EIO|EPERM'		# a kernel without it, or only for root
for bit in '' _32 _40 _63; do
	both type_own$bit EPERM ok "typing into its own: bits above$bit" "$old"
	for w in master stdin stdout stderr dup; do
		is "$(said in type_$w$bit)" EPERM "typing into $w: bits above$bit"
	done
done
both type_own_high_fd EPERM ok "typing with bits above the descriptor" "$old"
both typed EAGAIN ok "nothing was typed" EAGAIN
both line_discipline EPERM ok "another line discipline"
both line_discipline_high EPERM ok "the same with bits above"
both console EPERM 'EPERM|ENOTTY|EINVAL' "the console's own calls"
both redirect EPERM 'ok|EPERM' "the console's output"
both hangup EPERM 'ok|EPERM' "hanging it up"

# What is typed for the caller's shell, it runs next.
cat >"$work/p/type.py" <<'PY'
import fcntl, os
fds = [0, 1, 2]
for name in "/dev/tty", "/dev/stdin", "/dev/stdout", "/proc/self/fd/2":
    try:
        fds.append(os.open(name, os.O_RDWR | os.O_NOCTTY))
    except OSError:
        pass
for fd in fds:
    try:
        for c in b"echo TYPED\n":
            fcntl.ioctl(fd, 0x5412, bytes([c]))
        break
    except OSError:
        pass
PY
shell='"$@"; IFS= read -r -t 0.3 line; echo "line $line"'
on_terminal bash -c "$shell" bash "$B" exec --ro-bind "$work/p:/p" -- \
    $PY /p/type.py
words in
on_terminal bash -c "$shell" bash $PY "$work/p/type.py"
words out
both line '' 'echo TYPED' "a command typed for the caller's shell" ''

# --- its signals ------------------------------------------------------------------
on_terminal -i 'go\n' "$B" exec --ro-bind "$work/p:/p" -- $PY /p/ttys.py wait
words in
on_terminal -i 'go\n' "${as_plain[@]}" $PY "$work/p/ttys.py" wait
words out
both read go go "what is typed comes in, as bytes"
both signals none WINCH "and none of the terminal's signals"
on_terminal -i '\x03' "$B" exec --ro-bind "$work/p:/p" -- $PY /p/ttys.py wait
is $? 130 "^C is for the client"
words in
is "$(said in signals)" "" "which ends the command"
on_terminal -i '\x03\n' "${as_plain[@]}" $PY "$work/p/ttys.py" wait
words out
like "$(said out signals)" '.*INT.*' "control: outside it gets the signal"

# --- what it prints ---------------------------------------------------------------
# All there is of 8-bit and of two-byte controls, and of what turns text around.
cat >"$work/p/print.py" <<'PY'
import os, sys, time
bad = [bytes([c]) for c in range(256)]
bad += [chr(c).encode() for c in range(0x80, 0xa0)]
bad += [chr(c).encode() for c in (0x061c, 0x200e, 0x200f, 0x2028, 0x2029,
        0x202a, 0x202d, 0x202e, 0x2066, 0x2069, 0xfeff)]
bad += [b"\033[2J", b"\033]0;title\007", b"\033]52;c;ZWNobw==\007", b"\033c",
        b"\033P$q\033\\", b"\033[6n", b"\033[21t", b"\x9b2J", b"\xc2\x9b2J",
        b"\x0e\x0f", b"a\b\bb", b"one\rtwo", b"\xed\xa0\x80", b"\xc0\x9b",
        b"\xe0\x82\x9b", b"\xf0\x80\x82\x9b", b"\xff\xfe\x9b"]
for b in bad:
    os.write(int(sys.argv[1]), b"<" + b + b">\n")
for b in b"\xc2\x9b", b"\xe2\x80\xae", b"\033[2J":      # cut in two, or more
    for c in b:
        os.write(int(sys.argv[1]), bytes([c]))
        time.sleep(0.01)
os.write(int(sys.argv[1]), "end \u00e4\u20ac\n".encode() + b"\xc2")
PY
cat >"$work/p/shown.py" <<'PY'
import re, sys, unicodedata
b = open(sys.argv[1], "rb").read()
try:
    t = b.decode()
    bad = {c for c in t if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")}
    print("controls", ",".join("%x" % ord(c) for c in sorted(
        bad - set("\r\n\t"))) or "none")
except UnicodeDecodeError as e:
    print("controls", "bytes", b[e.start:e.start + 4].hex())
# a line that is drawn over
print("overdrawn", len(re.findall(rb"\r(?!\r*\n)", b)))
print("escaped", len(re.findall(rb"\\(x|u00)[0-9a-f]{2}", b)))
print("end", "yes" if "end \u00e4\u20ac".encode() in b else "no")
PY
shows() {	# FILE COMMAND...: what a terminal would have got, in $work/FILE
	local file=$1
	shift
	on_terminal "$@"
	$PY "$work/p/shown.py" "$work/shown" >"$work/$file"
}
p=("$B" exec --ro-bind "$work/p:/p")
for fd in 1 2; do
	shows in "${p[@]}" -- $PY /p/print.py $fd
	shows out $PY "$work/p/print.py" $fd
	both controls none '.*(1b|bytes).*' "control characters, on stream $fd"
	both overdrawn 0 '[1-9].*' "lines drawn over, on stream $fd"
	both end yes yes "other letters are shown, on stream $fd"
	like "$(said in escaped)" '[1-9][0-9]{2}' "the others are escaped"
done
shows in sh -c '"$@" 2>"$0"' "$work/file" "${p[@]}" -- $PY /p/print.py 1
is "$(said in controls)" none "where the other stream is a file"
shows in sh -c 'exec </dev/null; "$@"' sh "${p[@]}" -- $PY /p/print.py 2
is "$(said in controls)" none "where standard input is no terminal"

# Not to a terminal: the same bytes.
on_terminal sh -c '"$@" >"$0"; exit 0' "$work/file" "${p[@]}" -- \
    $PY /p/print.py 1
$PY "$work/p/print.py" 1 >"$work/want"
cmp -s "$work/file" "$work/want"
ok $? "to a file the same bytes, also from a terminal"
on_terminal sh -c '"$@" | cat >"$0"; exit 0' "$work/file" "${p[@]}" -- \
    $PY /p/print.py 1
cmp -s "$work/file" "$work/want"
ok $? "to a pipe the same bytes"

# By the client's own words: results, and complaints of what was asked.
e=$'\033[2J\302\233\342\200\256\233\r'
shows out printf '%s' "$e"
like "$(said out controls)" '.*(1b|bytes).*' "control: the same, shown plainly"
told() {	# NAME ARG...: of bailiff
	local name=$1
	shift
	shows in "$B" "$@"
	is "$(said in controls) $(said in overdrawn)" "none 0" "told: $name"
	[ "$(said in escaped)" -gt 0 ]
	ok $? "told: $name: it was escaped" "$work/shown"
}
told "a command that is not there" exec -- "no$e"
told "a program that can't be run" exec -- sh -c 'exec "$0"' "/work/no$e"
told "an unknown option" exec "--no$e" -- true
told "a folder that is not there" exec --ro-bind "/no$e:/p" -- true
told "a file to put" exec --put "/no$e:p" -- true
told "a file to get" exec --get "no$e:p" -- true
told "a working folder" exec -w "/no$e" -- true
told "a size" exec -m "1$e" -- true
told "an unknown command" "no$e"
told "the object of exec" exec --json -- printf '%s' "$e"
told "its object on another descriptor" exec --status-fd 1 -- printf '%s' "$e"
printf '#!/bin/sh\nprintf "%%s\\n" "{\\"score\\": 0, \\"passed\\": false, \\"details\\": \
\\"\\\\u001b[2J\\\\u009b\\\\u202e\\"}"\nprintf "%%s" "%s" >&2\n' "$e" >"$work/judge"
echo >"$work/answer$e.sh"
told "the result of run" run --judge "$work/judge" --answer "$work/answer$e.sh" \
    --json
shows in "$B" run --judge "$work/judge" --answer "$work/answer$e.sh"
is "$(said in controls)" none "told: the result of run, for people"

# The terminal is left as it was.
on_terminal sh -c 'stty -g; "$@"; echo; stty -g; exit 0' sh "${p[@]}" -- \
    $PY /p/print.py 1
is "$(tr -d '\r' <"$work/shown" | grep -cE '^[0-9a-f]+(:[0-9a-f]+)+$'):$(
    tr -d '\r' <"$work/shown" | grep -E '^[0-9a-f]+(:[0-9a-f]+)+$' | sort -u |
    wc -l)" 2:1 "the terminal's settings are left alone"
cat >"$work/p/blocking.py" <<'PY'
import os
print("blocking", *[int(os.get_blocking(fd)) for fd in range(3)])
PY
on_terminal sh -c '"$@"; exit 0' sh sh -c '"$0" "$1"; shift; "$@"' \
    $PY "$work/p/blocking.py" sh -c '"$0" exec -- true; exec "$@"' "$B" \
    $PY "$work/p/blocking.py"
is "$(tr -d '\r' <"$work/shown" | sort -u)" "blocking 1 1 1" \
    "and nobody finds it non-blocking"
done_testing
