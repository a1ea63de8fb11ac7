#!/bin/bash
# bailiff-rules: what it refuses, where it says the fault is, and what it writes.
set -u

tool=${BUILD:?}/bailiff-rules
[[ $tool == /* ]] || tool=$PWD/$tool
policy=$PWD/policy/default.policy
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
n=0

result() {	# result STATUS NAME
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		sed 's/^/# /' out err 2>/dev/null
	fi
}

same() {	# same GOT WANT NAME
	[ "$1" = "$2" ]
	result $? "$3: $1"
}

run() {		# run ARG...: status in $status, text in out and err
	"$tool" "$@" >out 2>err
	status=$?
}

# bad NAME LINE:COL WORDS SOURCE: check says so, there, and with these words
bad() {
	printf '%b' "$4" >bad.policy
	run check --etc etc bad.policy
	[ "$status" = 1 ] && [ ! -s out ] &&
	    grep -qF "bad.policy:$2: " err && grep -qF -- "$3" err
	result $? "$1"
}

# good NAME SOURCE
good() {
	printf '%b' "$2" >good.policy
	run check --etc etc good.policy
	[ "$status" = 0 ] && [ ! -s err ] && grep -q 'sound' out
	result $? "$1"
}

mkdir etc
printf 'root:x:0:0::/:/bin/sh\nbig:x:300000:300000::/:/bin/sh\n' >etc/passwd
printf 'root:x:0:\nwide:x:400000:big\n' >etc/group
printf '%s\n' big:500000:65536 odd ::: padded:00900010:5 >etc/subuid
printf 'big:700000:65536\n' >etc/subgid
U='uids 100000 count 1000\n'
C='caller 0 slots 10\n'

good 'the smallest' "$U$C"
good 'comments, blanks, tabs, carriage returns' \
    "# x\n\n \t\n${U}caller\t0  slots 10 # why\r\n"
good 'no end of the last line' "${U}caller 0 slots 10"
good 'every word' "${U}caller 0 slots 1 memory 8g pids 4096 disk 4t \
fsize 512k nofile 99 wall 1h\ncaller 5-9 slots 2 wall 90s\ngroup 995\n\
group root\nshow /opt/tools\nshow /srv/x\n"
good 'callers in any order' "${U}caller 9 slots 1\ncaller 0-3 slots 1\n"
good 'the very end of what may be' 'uids 2147352575 count 1\ncaller 0 slots 1\n'

bad 'nothing' 1:1 'expected a "uids" line' ''
bad 'no uids' 2:1 'expected a "uids" line' "$C"
bad 'no caller' 2:1 'expected a "caller" line' "$U"
bad 'an unknown word' 2:3 'expected uids, caller, group or show, found "foo"' \
    "$U  foo 1\n$C"
bad 'two uids lines' 2:1 'the first is line 1' "$U$U$C"
bad 'uids without count' 1:12 'expected "count"' 'uids 100000\n'
bad 'uids with a word too many' 1:24 'expected the end of the line' \
    "uids 100000 count 1000 x\n$C"
bad 'uids too low' 1:6 'within 65536 and 2147352575' "uids 1000 count 5\n$C"
bad 'uids too high' 1:6 'within 65536' "uids 2147352575 count 2\n$C"
bad 'uids that overflow' 1:6 'within 65536' "uids 100000 count 4294967294\n$C"
bad 'uids at root' 1:6 'within 65536' "uids 0 count 5\n$C"
bad 'a negative number' 1:6 'found "-5"' "uids -5 count 5\n$C"
bad 'no users' 1:19 'expected how many' "uids 100000 count 0\n$C"
bad 'hex' 1:6 'found "0x20000"' "uids 0x20000 count 5\n$C"
bad 'octal' 1:6 'found "0200000"' "uids 0200000 count 5\n$C"
bad 'a number of 30 digits' 1:6 'expected the first user number' \
    "uids 999999999999999999999999999999 count 5\n$C"
bad 'a caller without number' 2:7 'found the end of the line' "${U}caller\n"
bad 'a caller by name' 2:8 'found "bob"' "${U}caller bob slots 1\n"
bad 'a range upside down' 2:8 'smaller number first' \
    "${U}caller 9-3 slots 1\n"
bad 'half a range' 2:8 'found "9-"' "${U}caller 9- slots 1\n"
bad 'caller -1' 2:8 'found "4294967295"' "${U}caller 4294967295 slots 1\n"
bad 'no slots word' 2:10 'expected "slots"' "${U}caller 0 memory 1g\n"
bad 'no slots' 2:16 'at least 1' "${U}caller 0 slots 0\n"
bad 'an unknown limit' 2:18 'found "memry"' "${U}caller 0 slots 1 memry 1g\n"
bad 'a limit without value' 2:24 'expected a size' \
    "${U}caller 0 slots 1 memory\n"
bad 'a limit of 0' 2:25 'found "0"' "${U}caller 0 slots 1 memory 0\n"
bad 'an unknown unit' 2:25 'found "8x"' "${U}caller 0 slots 1 memory 8x\n"
bad 'a size that overflows' 2:25 'expected a size' \
    "${U}caller 0 slots 1 memory 99999999t\n"
bad 'a time without unit' 2:23 'expected a time' \
    "${U}caller 0 slots 1 wall 60\n"
bad 'a time too long' 2:23 'at most 366d' "${U}caller 0 slots 1 wall 367d\n"
bad 'a limit twice' 2:28 'a second "memory"' \
    "${U}caller 0 slots 1 memory 1g memory 2g\n"
bad 'callers that meet' 3:1 'caller 9 is in line 2, too (5-9)' \
    "${U}caller 5-9 slots 1\ncaller 9 slots 1\n"
bad 'an indented caller' 2:3 'out of 1000 user numbers' \
    "${U}  caller 0-100 slots 10\n"
bad 'more slots than users' 2:1 'out of 1000 user numbers' \
    "${U}caller 0-100 slots 10\n"
bad 'slots that overflow' 2:1 'out of 1000 user numbers' \
    "${U}caller 0-4294967 slots 4294967294\n"
bad 'a cell as caller' 2:1 'meet the user numbers of cells' \
    "${U}caller 100500 slots 1\n"
bad 'an unknown group' 3:7 'found "no-such-group"' "$U${C}group no-such-group\n"
bad 'group -1' 3:7 'found "4294967295"' "$U${C}group 4294967295\n"
bad 'no group' 3:6 'found the end of the line' "$U${C}group\n"
bad 'a relative folder' 3:6 'expected an absolute path' "$U${C}show opt\n"
bad 'the root as folder' 3:6 'below "/"' "$U${C}show /\n"
bad 'a way up' 3:6 'expected an absolute path' "$U${C}show /opt/../etc\n"
bad 'two slashes' 3:6 'expected an absolute path' "$U${C}show /opt//x\n"
bad 'a slash at the end' 3:6 'expected an absolute path' "$U${C}show /opt/\n"
bad 'a folder in other letters' 3:6 'expected an absolute path' \
    "$U${C}show /opt/\\xc3\\xa9\n"
bad 'a folder too long' 3:6 'shorter than 176' \
    "$U${C}show /$(printf 'x/%.0s' {1..100})y\n"
for p in /proc /dev/shm /tmp /run/user /sys/fs /var/tmp/x /var /root /etc \
    /etc/passwd /etc/shadow /etc/sudoers.d/x /home/judge; do
	bad "folder $p" 3:6 'of its own or never sees' "$U${C}show $p\n"
done
good 'a folder with a like name' \
    "$U${C}show /process\nshow /opt\nshow /etc/passwd.d\n"
bad 'folders that meet' 4:6 'meets "/opt" of line 3' \
    "$U${C}show /opt\nshow /opt/x\n"
bad 'a NUL byte' 2:4 'NUL byte' "${U}# x\\0000y\n$C"
bad 'too many callers' 66:1 'at most 64' \
    "$U$(for i in {1..65}; do printf 'caller %d slots 1\\n' "$i"; done)"
bad 'too many folders' 67:1 'at most 64' \
    "$U$C$(for i in {1..65}; do printf 'show /opt/%d\\n' "$i"; done)"
bad 'too many groups' 19:1 'at most 16' \
    "$U$C$(for i in {1..17}; do printf 'group %d\\n' "$i"; done)"
bad 'two faults, the first' 1:6 'within' "uids 5 count 5\nfoo\n"
bad 'two faults, the second' 2:1 'found "foo"' "uids 5 count 5\nfoo\n"
bad 'too many words' 2:65 'too many words' \
    "${U}$(printf 'x %.0s' {1..40})\n"

bad 'a user of the machine' 1:1 'line 2 of etc/passwd' \
    "uids 299999 count 2\n${C/10/1}"
bad 'a group of the machine' 1:1 'line 2 of etc/group' \
    "uids 400000 count 1\n${C/10/1}"
bad 'subordinate users' 1:1 'line 1 of etc/subuid' \
    "uids 565535 count 10\n$C"
echo wide:800000:18446744073709551612 >>etc/subuid
bad 'subordinate users, more than there are numbers' 1:1 'line 5 of etc/subuid' \
    "uids 800000 count 10\n$C"
sed -i '$d' etc/subuid
echo all:0:0000070000 >>etc/subuid
bad 'subordinate users, from 0 on' 1:1 'line 5 of etc/subuid' \
    "uids 66000 count 10\n$C"
sed -i '$d' etc/subuid
bad 'subordinate users, written with zeros' 1:1 'line 4 of etc/subuid' \
    "uids 900000 count 20\n$C"
bad 'what a terminal would obey' 1:1 'found "bogus?]0;x?"' 'bogus\033]0;x\007 1\n'
bad 'what a terminal would obey, in eight bits' 1:1 'found "bogus?1m??1m"' \
    'bogus\2331m\302\2331m 1\n'
bad 'subordinate groups' 1:1 'line 1 of etc/subgid' \
    "uids 699000 count 1001\n$C"
good 'just behind them' "uids 565536 count 10\n$C"
good 'just before them' "uids 699990 count 10\n$C"

run check no-such-file
same "$status" 1 'a file that is not there'
head -c 70000 /dev/zero | tr '\0' '#' >big.policy
run check big.policy
same "$status" 1 'a file too large'

for words in '' 'check' 'frob x' 'check a b' 'check -x f' 'compile f -o' \
    'check f -o x' '-o x'; do
	# shellcheck disable=SC2086 # words they are
	run $words
	same "$status" 64 "usage: bailiff-rules $words"
	[ ! -s out ] && grep -q '^usage:' err
	result $? "usage on standard error: $words"
done
run --help
same "$status" 0 'help'
grep -q '^usage:' out
result $? 'help is on standard output'
run --version
same "$status" 0 'version'
grep -q '^bailiff-rules' out
result $? 'version names the tool'
"$tool" --help >/dev/full 2>err
same "$?" 1 'help that cannot be written'

printf '%b' "$U$C" >good.policy
run compile --etc etc good.policy -o rules
same "$status" 0 'compile'
same "$(stat -c '%s %a' rules)" '14976 644' 'size and mode'
cp rules first
run compile --etc etc good.policy
cmp -s out first
result $? 'standard output gets the same bytes'
printf '%b' "${U}foo\n" >bad.policy
run compile --etc etc bad.policy -o rules
same "$status" 1 'compile what is bad'
cmp -s rules first
result $? 'the old rules stay'
run compile --etc etc good.policy -o no-such-folder/rules
same "$status" 1 'a folder that is not there'
ln -s first link
printf '%b' "${U}caller 0 slots 11\n" >other.policy
mkfifo pipe
ln -s pipe link.pipe
ln -s nothing link.nothing
for f in link pipe link.pipe link.nothing; do
	was=$(stat -c '%i %F' $f)
	run compile --etc etc other.policy -o $f
	[ "$status" = 1 ] && [ "$(stat -c '%i %F' $f)" = "$was" ] &&
	    [ ! -e nothing ] && cmp -s rules first &&
	    grep -q "^bailiff-rules: $f: is there, and no plain file" err
	result $? "what is no plain file is neither replaced nor written to: $f"
done
rm pipe link*
same "$(find . -name '*.??????' ! -name '*.policy' | wc -l)" 0 'nothing left over'
want=$(sha256sum good.policy | cut -d' ' -f1)
same "$(od -An -v -tx1 -j32 -N32 rules | tr -d ' \n')" "$want" 'digest'
for size in 0 1 55 56 63 64 65 119 120 1000; do
	{ printf '%b#' "$U$C"; head -c "$size" /dev/zero | tr '\0' x; } >d.policy
	run check --etc etc d.policy
	grep -qF "$(sha256sum d.policy | cut -d' ' -f1)" out
	result $? "digest with $size bytes more"
done
"$tool" compile --etc etc good.policy >/dev/full 2>err
same "$?" 1 'rules that cannot be written'

run builtin "$policy"
same "$status" 0 'builtin'
grep -q '^static const struct bl_rules bl_rules_default = {' out
result $? 'a C header'
printf '%b' "uids 300000 count 10\n$C" >host.policy
run builtin --etc etc host.policy
same "$status" 0 'builtin does not look at the machine'
printf '%b' "$U${C}group root\n" >name.policy
run builtin name.policy
same "$status" 1 'nor at names of groups'
run check "$policy"
if grep -q 'meet .* line .* of /etc/' err; then
	n=$((n + 1))
	echo "ok $n - the default # SKIP this machine uses its numbers"
else
	same "$status" 0 'the default on this machine'
fi
echo "1..$n"
