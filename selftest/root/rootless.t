#!/bin/bash
# The way rootless, used by an ordinary user with nothing installed: every
# answer of every example gets the verdict it should, with every protection
# seen; whatever dies, nothing is left; and each thing that is missing is named
# in one sentence.  Users and their ranges are those of a mount namespace of
# the test's own, and so is all that it hides.
# shellcheck disable=SC2016
set -u

here=$(pwd)/selftest/root
B=$(realpath "${BUILD:-build/release}")
alice=1739					# nobody else's in selftest/
uids=1200000000 gids=1300000000 count=65536	# what is lent to alice
# shellcheck source=selftest/payload/tap.sh
. selftest/payload/tap.sh

none() {
	echo "1..0 # SKIP $1"
	exit 0
}

[ -x "$B/bailiff" ] && [ -x "$B/bailiff-helper" ] || none "$B has no bailiff"
for tool in newuidmap newgidmap; do
	[ -u /usr/bin/$tool ] || none "no set-user-ID /usr/bin/$tool"
done
if [ "${1-}" != inside ]; then
	# other tests' processes, too, are none of this one's business
	exec unshare -m -p -f --kill-child --mount-proc --propagation private \
	    -- "$0" inside
fi

# --- a place for it ----------------------------------------------------------

house=
for dir in /media /mnt /srv /opt; do
	[ -d $dir ] && [ ! -L $dir ] && house=$dir && break
done
umask 022
mount -n -t tmpfs -o mode=755 rootless.t $house &&
    mount -n -t tmpfs -o mode=755 run /run || exit 1
for file in passwd group subuid subgid; do
	cp /etc/$file $house/$file 2>/dev/null || : >$house/$file
	[ -e /etc/$file ] || none "there is no /etc/$file to cover"
	mount -n --bind $house/$file /etc/$file || exit 1
done
echo "bailiff-alice:x:$alice:$alice::/nonexistent:/bin/sh" >>/etc/passwd
echo "bailiff-alice:x:$alice:" >>/etc/group
lend() {	# [UIDS [GIDS]]: alice's lines of both tables
	echo "${1-bailiff-alice:$uids:$count}" >/etc/subuid
	echo "${2-bailiff-alice:$gids:$count}" >/etc/subgid
}
lend
# where a helper that is installed would be
installed=$(grep -aom1 '/[[:print:]]*/libexec/bailiff/bailiff-helper' \
    "$B/bailiff")
[ ! -e "$installed" ] || mount -n -t tmpfs none "${installed%/*}" || exit 1

mkdir $house/bin $house/x && mkdir -m 1777 $house/open
cp "$B/bailiff" "$B/bailiff-helper" $house/bin/
cp -r examples $house/
C=$house/bin/bailiff H=$house/bin/bailiff-helper
install -d -m 700 -o $alice -g $alice $house/run $house/home
xdg=$house/run path=/usr/bin:/bin
cd $house/open || exit 1

begin() {	# COMMAND...: as alice, for the background; $! is its own number
	exec setpriv --reuid=$alice --regid=$alice --groups=4321 env -i \
	    PATH=$path HOME=$house/home ${xdg:+XDG_RUNTIME_DIR=$xdg} "$@"
}
as() {
	(begin "$@")
}
cell() {	# [OPTION...] -- COMMAND...: exec --json, its status in st
	as "$C" exec --way rootless --json "$@" >$house/out 2>$house/log \
	    </dev/null
	st=$?
}
ask() {		# EXPRESSION over d
	/usr/bin/python3 -c 'import json, sys
d = json.load(open(sys.argv[1], encoding="utf-8"))
print(eval(sys.argv[2]))' $house/out "$1" 2>&1
}
why() {		# STATUS CODE: of a cell that could not be
	echo "$st $(ask 'd["error"]["code"]')"
}
said() {	# all that was said about it
	ask '"%(message)s; %(hint)s" % d["error"]'
}
mine() {	# processes of alice's range, and helpers: pid, uid, name
	ps -eo pid=,uid=,args= | awk -v a=$uids -v n=$count -v h="$H" '
		($2 >= a && $2 < a + n) || $2 == '$alice' &&
		    ($3 == "bailiff-helper" || $3 == h)'
}
within() {	# SECONDS COMMAND...: it comes to hold
	local i n=$(($1 * 20))
	shift
	for ((i = 0; i < n; i++)); do
		"$@" && return
		sleep 0.05
	done
	false
}
empty() {
	mine >$house/left
	[ ! -s $house/left ]
}
locked() {	# how many bytes of the locks are held, by anybody
	as /usr/bin/python3 - "$xdg/bailiff/slots" <<'END'
import fcntl, struct, sys
f, at, n = open(sys.argv[1], "rb+"), 0, 0
while True:		# F_OFD_GETLK
    lock = struct.pack("hhqqixxxx", fcntl.F_WRLCK, 0, at, 0, 0)
    kind, _, start, size, _ = struct.unpack("hhqqixxxx",
                                            fcntl.fcntl(f, 36, lock))
    if kind == fcntl.F_UNLCK:
        break
    n, at = n + 1, start + size
print(n)
END
}

LEFT_UIDS=$uids-$((uids + count - 1)) "$here/libleft.py" save $house/before

# --- exec --------------------------------------------------------------------

cell -- sh -c 'id -u; id -G; cat /proc/self/uid_map'
is $st 0 "a command"
[ $st = 0 ] || sed 's/^/# /' $house/out
seen='all(d["protections"][k] is True for k in
    ("uid", "net", "mount", "pid", "ipc", "seccomp"))'
is "$(ask "$seen")" True "its protections were all seen"
is "$(ask '"%s %s %s" % (d["way"], d["separation"],
    d["protections"]["rules"])')" "rootless users+namespaces builtin" \
    "its way, separation and rules"
is "$(ask 'd["stdout"].split()')" \
    "['1879113728', '1879113728', '0', '$alice', '1', '1879113728', '$((uids +
    count - 1024))', '1024']" "numbers as in any cell, out of alice's range"
is "$(ask 'd["warnings"]')" "[]" "nothing to warn of"
as "$C" exec -- true 2>$house/log
is $? 0 "it is what is taken when nothing is installed" $house/log
as "$C" exec --json -- true >$house/out
is "$(ask 'd["way"]')" rootless "and is told"

(begin "$C" exec --way rootless -- sleep 20) &
first=$!
within 5 eval 'mine | grep -q "sleep 20"'
(begin "$C" exec --way rootless -- sleep 21) &
second=$!
within 5 eval 'mine | grep -q "sleep 21"'
mine >$house/left
is "$(awk -v a=$uids '/ sleep 2[01]$/ { print $2 - a }' $house/left |
    sort -n | tr '\n' ' ')" "$((count - 1024)) $((count - 1023)) " \
    "two sessions have two users of the range" $house/left
is "$(awk '$3 == "bailiff-helper" { print $2 }' $house/left | sort -u)" \
    $alice "and helpers are alice's own" $house/left
kill $first $second
wait $first $second
within 2 empty
ok $? "both end" $house/left

mkdir $house/evil
for tool in newuidmap newgidmap sh; do
	printf '#!/bin/sh\n: >%s/evil/ran\n' $house >$house/evil/$tool
	chmod 755 $house/evil/$tool
done
chmod 777 $house/evil
path=$house/evil:$path
cell -- true
path=/usr/bin:/bin
is "$st $(ls $house/evil)" "0 newgidmap
newuidmap
sh" "no program of PATH's is run"

# --- what a cell has and has not ---------------------------------------------

cell -- cat /proc/net/dev
is "$(ask '[l.split(":")[0].strip() for l in
    d["stdout"].splitlines()[2:]]')" "['lo']" "one network device"
/usr/bin/python3 -c 'import socket, time
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
time.sleep(60)' >$house/port &
server=$!
within 5 test -s $house/port
dial="exec 9<>/dev/tcp/127.0.0.1/$(cat $house/port)"
bash -c "$dial" 2>/dev/null
is $? 0 "control: a server of this host"
cell -- bash -c "$dial"
like "$st $(ask 'd["stderr"]')" '1 .*refused.*' "no cell gets there"
cell -- python3 -c 'import socket
a = socket.create_server(("127.0.0.1", 0))
b = socket.create_connection(a.getsockname())
print("met")'
is "$(ask 'd["stdout"]')" met "but to itself"
kill $server
cell --disk 8m -- sh -c 'head -c 7000000 /dev/zero >/tmp/a && echo fits
    head -c 3000000 /dev/zero >/tmp/b || echo full'
like "$(ask 'd["stdout"].split()')" "\['fits', 'full'\]" "--disk holds"
cell --pids 10 -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 1 &
    done; wait; echo all'
[[ $(ask 'd["stdout"]') != *all* ]] || [[ $(ask 'd["stderr"]') == *ork* ]]
ok $? "--pids holds" $house/out
install -d -o $alice $house/open/d && echo here >$house/open/d/f
ln -s d $house/open/link
cell --ro-bind $house/open/d:/data --ro-bind $house/open/link:/more/a \
    --expose $house/examples/two_sum -- \
    sh -c "cat /data/f /more/a/f; ls $house/examples; touch /data/f"
is "$st $(ask 'd["stdout"].split()')" "1 ['here', 'here', 'two_sum']" \
    "folders of alice's, read-only"
mkdir -m 700 $house/x/shut
cell --ro-bind $house/x/shut:/data -- ls /data
like "$st $(ask 'd["stderr"]')" '[12] .*denied' "a folder that is closed to her"
cell --ro-bind $house/x/gone:/data -- true
is "$(why)" "125 place_unreadable" "one that is not there"
as "$C" run $house/examples/two_sum --way rootless --judge-net host --json \
    --answer $house/examples/two_sum/answers/right_table.py \
    >$house/out 2>$house/log
is "$? $(ask 'd["failure_reason"]')" "3 way_too_weak" "no network of the host's"

# --- run ---------------------------------------------------------------------

tests=0
for env in "$house"/examples/*/; do
	example=$(basename "$env")
	for answer in "$env"answers/* "$env"reference_solution*; do
		[ -e "$answer" ] || continue
		name=$(basename "$answer")
		as "$C" run "$env" --way rootless --answer "$answer" --json \
		    >$house/out 2>$house/log
		st=$?
		case $name in
		reference*)	want='0 passed True 1' ;;
		*)		want=$(awk -F '\t' -v e="$example" -v a="$name" '
			$1 == e && $2 == a && $3 == "passed" {
				print "0 passed True " $4 }
			$1 == e && $2 == a && $3 == "failed" {
				print "1 failed False " $4 }' \
			$house/examples/expected.tsv) ;;
		esac
		is "$st $(ask '"%s %s %.4g" % (d["verdict"],
		    d["passed"], d["score"])')" "$want" "$example: $name"
		is "$(ask "[$seen, d['separation'], d['way']]")" \
		    "[True, 'users+namespaces', 'rootless']" \
		    "$example: $name: protections"
		tests=$((tests + 1))
	done
done
[ $tests -gt 40 ]
ok $? "there were $tests answers"

cat >$house/judge <<'END'
#!/bin/sh
"$BAILIFF_ANSWER" -t 20 -- sleep 17 & sleep 18
END
(begin "$C" run --way rootless --judge $house/judge --answer \
    $house/open/d/f -t 30 >$house/log 2>&1) &
run=$!
within 10 eval 'mine | grep -q " sleep 17" && mine | grep -q " sleep 18"'
mine >$house/left
is "$(awk '$3 == "sleep" { print $2 }' $house/left | sort -u | wc -l)" 2 \
    "judge and answer are two users of this host"
pid=$(awk '$3 == "sleep" && $4 == 17 { print $1 }' $house/left)
# shellcheck disable=SC2046
set -- $(grep ^Uid: /proc/"${pid:-0}"/status)
is "$#.$2.$3.$4.$5" "5.$2.$2.$2.$2" "by all four numbers"
[ "$2" -ge $((uids + count - 1024)) ] && [ "$2" -lt $((uids + count)) ]
ok $? "out of alice's range"
kill $run
wait $run

# --- whatever dies -----------------------------------------------------------

# kept ones, to be entered by alice
as "$C" run $house/examples/two_sum --way rootless --keep \
    --answer $house/examples/two_sum/answers/right_table.py >$house/out \
    2>$house/log
enter=$(sed -n "s/.*the judge's cell; \(nsenter .*\)/\1/p" $house/log)
is "$(as $enter -c 'id -u; cat verifier.py | wc -l' 2>&1 | head -n 1)" \
    1879113728 "alice can enter a cell that is kept" $house/log
as kill "$(sed -n 's/.*until kill //p' $house/log)"
within 2 empty
ok $? "it ends with its holder" $house/left

busy() {	# starts a cell with a program in it; client: its number
	(begin "$C" exec --way rootless -- sh -c 'sleep 50 & sleep 51') &
	client=$!
	within 5 eval 'mine | grep -q "sleep 50"' || return
	[ "$(locked)" -ge 2 ] || return
	helper=$(pgrep -P $client -f bailiff-helper | head -n 1)
	init=$(pgrep -P "${helper:-0}" | head -n 1)
}
for who in client helper init; do
	busy
	ok $? "control: a cell, with locks"
	kill -9 "${!who:-0}"
	within 2 empty
	ok $? "$who is killed: nothing is left" $house/left
	[ $who = client ] || kill $client 2>/dev/null
	wait $client 2>/dev/null
	is "$(locked)" 0 "$who is killed: no lock either"
done
# and at any moment of the start; a client alone takes some 20 ms
for i in {1..60}; do
	(begin "$C" exec --way rootless -- sleep 50) 2>/dev/null &
	client=$!
	sleep "0.0$((i % 6))$((i % 10))"
	kill -9 $client
	wait $client
done 2>/dev/null
within 2 empty
ok $? "60 clients, killed while they start: nothing is left" $house/left
ps -U $alice -o stat=,pid=,args= | grep -v ^Z >$house/left
[ ! -s $house/left ]
ok $? "nor anything of alice's" $house/left
# alice, who owns the namespace, may do that
busy
as kill -9 "$helper"
wait $client
is $? 125 "alice can kill her own helper; there is no result"
within 2 empty
ok $? "nothing is left of it" $house/left

cover() {	# FILE OPTION...: another one over a tool
	mount -n --bind "$1" "$2" && shift 2 && { [ $# = 0 ] || "$@"; }
}
cp /bin/sleep $house/x/slow && chmod 4755 $house/x/slow
cover $house/x/slow /usr/bin/newuidmap
from=$(date +%s)
cell -- true
took=$(($(date +%s) - from))
umount -n -l /usr/bin/newuidmap
is "$(why)" "125 id_map" "newuidmap hangs"
[ $took -ge 9 ] && [ $took -le 20 ]
ok $? "for ten seconds, not more ($took)"
within 2 empty && [ "$(pgrep -c -U $alice)" = 0 ]
ok $? "nothing is left of it" $house/left
cover $house/x/slow /usr/bin/newuidmap
(begin "$C" exec --way rootless -- true) &
client=$!
within 5 eval 'slow=$(pgrep -P $client -f newuidmap)'
kill -9 $client
wait $client 2>/dev/null
within 2 eval '[ "$(pgrep -U $alice)" = "$slow" ]'
ok $? "its client is killed: no child waits for it"
kill "$slow"
umount -n -l /usr/bin/newuidmap

# --- what can be missing -----------------------------------------------------

missing() {	# WORDS NAME: the way can't be used, in words with these in them
	cell -- true
	is "$(why)" "125 ${code:-way_missing}" "$2"
	like "$(said) " ".*$1.*" "$2: is said"
	as "$C" exec --json -- true >$house/out 2>$house/log
	st=$?
	case $st in
	0)	# something weaker was there
		is "$(ask 'd["way"]')" bwrap "$2: is passed over"
		like "$(ask 'd["warnings"]')" ".*$1.*" "$2: and why" ;;
	*)	like "$(why)" '125 (helper_missing|.*bwrap.*)' \
		    "$2: is passed over"
		skip "$2: and why" "there is nothing weaker here" ;;
	esac
}
cover /dev/null /usr/bin/newuidmap
missing 'newuidmap is not installed.*apt install uidmap' "no newuidmap"
umount -n -l /usr/bin/newuidmap
cover /dev/null /usr/bin/newgidmap
missing 'newgidmap is not installed.*apt install uidmap' "no newgidmap"
umount -n -l /usr/bin/newgidmap
cp /usr/bin/newuidmap $house/x/plain && chmod 755 $house/x/plain
cover $house/x/plain /usr/bin/newuidmap
missing 'chmod u\+s' "newuidmap without its bit"
umount -n -l /usr/bin/newuidmap
cover /usr/bin/newuidmap /usr/bin/newuidmap \
    mount -n -o remount,bind,nosuid /usr/bin/newuidmap
missing 'nosuid' "newuidmap, mounted nosuid"
umount -n -l /usr/bin/newuidmap
lend ''
missing 'no range in /etc/subuid.*--add-subuids [0-9]+-[0-9]+ bailiff-alice' \
    "no line in /etc/subuid"
lend "bailiff-alice:$uids:$count" ''
missing 'no range in /etc/subgid.*usermod --add-subgids 100000-165535 bailiff-alice' \
    "no line in /etc/subgid"
lend "bailiff-alice:$uids:1000"
missing 'has 1000 numbers, and 1024 are needed' "a range too small"
lend "bailiff-alice:x:65536"
missing 'no range in /etc/subuid' "a line that is none"
lend "bailiff-alice:$uids:1024
bailiff-alice:$((uids + 5000)):65536"
cell -- true
is $st 0 "control: two lines, one just large enough"
lend "$alice:$uids:$count" "$alice:$gids:$count"
cell -- true
is $st 0 "control: by number"
lend
grep -v ^bailiff-alice: /etc/passwd >$house/x/passwd
cat $house/x/passwd >/etc/passwd
missing 'knows no user without a name.*1739' "a user without a name"
# a name that is cut is another user's
long=bailiff-$(printf 'a%.0s' {1..55})
echo "$long:x:$alice:$alice::/nonexistent:/bin/sh" >>/etc/passwd
lend "$long:$uids:1000"
missing "has 1000 numbers.*usermod( --add-sub.ids [0-9]+-[0-9]+){2} $long[^a]" \
    "a range too small, of a long name"
lend
cat $house/x/passwd >/etc/passwd
echo "bailiff-alice:x:$alice:$alice::/nonexistent:/bin/sh" >>/etc/passwd
as setpriv --no-new-privs "$C" exec --way rootless --json -- true \
    >$house/out 2>$house/log
st=$?
is "$(why)" "125 way_missing" "no_new_privs"
like "$(said)" '.*no_new_privs.*' "no_new_privs: is said"
mkdir $house/all && mount -n --rbind / $house/all
chroot $house/all setpriv --reuid=$alice --regid=$alice --clear-groups \
    env -i PATH=$path HOME=/ "XDG_RUNTIME_DIR=$xdg" "$C" exec \
    --way rootless --json -- true >$house/out 2>$house/log
st=$?
umount -n -l $house/all && rmdir $house/all
is "$(why)" "125 way_missing" "no user namespaces (in a chroot)"
like "$(said)" '.*no user namespace can be made.*chroot.*' \
    "no user namespaces: is said"

code=helper_start
chmod 700 $H
cell -- true
is "$(why)" "125 helper_start" "a helper that alice can't read"
chmod 755 $H
as env BAILIFF_HELPER=/dev/null "$C" exec --way rootless --json -- true \
    >$house/out 2>$house/log
st=$?
is "$(why)" "125 helper_start" "one that is no file"
as env BAILIFF_HELPER=$house/examples/expected.tsv "$C" exec --way rootless \
    --json -- true >$house/out 2>$house/log
st=$?
is "$(why)" "125 rootless_start" "one that is no program"
as nice "$C" exec --way rootless --json -- true >$house/out 2>$house/log
st=$?
is "$(why)" "125 limits_too_low" "under nice(1)"
like "$(said)" '.*without nice.*' "under nice(1): is said"

# --- the folder of locks -----------------------------------------------------

is "$(stat -c '%a %u' $xdg/bailiff)" "700 $alice" "its folder is alice's alone"
chmod 755 $xdg/bailiff
cell -- true
is "$(why)" "125 slot_locks" "one that others may look into is not used"
like "$(said)" '.*chmod 700.*' "and that is said"
rm -r $xdg/bailiff && ln -s $house/open/d $xdg/bailiff
cell -- true
is "$(why)" "125 slot_locks" "nor a link"
rm $xdg/bailiff
chmod 777 $xdg
install -d -m 700 -o $alice -g $alice /run/user/$alice
cell -- true
is "$st $(ls $xdg) $(ls /run/user/$alice/bailiff)" "0  slots" \
    "an XDG_RUNTIME_DIR that others may write: /run/user/$alice"
chmod 700 $xdg
rm -r /run/user
xdg=
cell -- true
is "$st $(find $house/home -printf '%P %m %u\n' | sort | tr '\n' ' ')" \
    "0  700 $(id -un $alice) .local 700 $(id -un $alice) .local/state 700 $(id \
    -un $alice) .local/state/bailiff 700 $(id -un $alice) \
.local/state/bailiff/slots 600 $(id -un $alice) " "none: the state folder"
rm -r $house/home/.local && chmod 500 $house/home
chown 0:0 $house/home
cell -- true
is "$(why)" "125 slot_locks" "neither"
like "$(said)" '.*set XDG_RUNTIME_DIR.*' "and that is said"
chown $alice:$alice $house/home && chmod 700 $house/home
xdg=$house/run

# --- limits, which no root of a namespace raises ------------------------------

as prlimit --data=70000000 "$C" exec --way rootless --json -- true \
    >$house/out 2>$house/log </dev/null
st=$?
is "$(why) $(ask 'd["error"]["object"]')" "125 limits_too_low data" \
    "a hard limit below that of a cell"

# --- what has run out is no reason for a weaker way --------------------------

as prlimit --nproc=1:1 "$C" exec --json -- true >$house/out 2>$house/log \
    </dev/null
st=$?
is "$(why) $(ask 'd["error"]["kind"]')" "125 no_resources infrastructure" \
    "no more processes: an error, and no other way"
# wherever they do, up to enough for a run: nothing is wrong with the ranges
for what in nofile:4:40 nproc:1:8; do
	IFS=: read -r kind from to <<<"$what"
	: >$house/kinds
	for ((i = from; i < to; i++)); do
		as prlimit --$kind=$i: "$C" exec --way rootless --json -- true \
		    >$house/out 2>$house/log </dev/null
		ask '("started" if "error" not in d else
		    "%(kind)s %(code)s" % d["error"])' >>$house/kinds
	done
	grep -c '^infrastructure no_' $house/kinds >$house/few
	is "$(grep -vxE 'started|infrastructure [a-z_]+' $house/kinds |
	    sort | uniq -c) $(($(cat $house/few) > 1))" " 1" \
	    "from $from to $to of $kind: what runs out may be there again" \
	    $house/kinds
done
setpriv --reuid=$alice --regid=4321 --groups=4321,$alice env -i PATH=$path \
    HOME=$house/home XDG_RUNTIME_DIR=$xdg "$C" exec --way rootless --json -- \
    true >$house/out 2>$house/log </dev/null
st=$?
is "$(why)" "125 id_map" "after newgrp"
like "$(said)" '.*first group.*outside of newgrp.*' "after newgrp: is said"

# --- root too, and afterwards ------------------------------------------------

echo "root:$((uids + count)):65536" >>/etc/subuid
echo "root:$((gids + count)):65536" >>/etc/subgid
XDG_RUNTIME_DIR=$house/x "$C" exec --way rootless --json -- \
    cat /proc/self/uid_map >$house/out 2>$house/log
is "$? $(ask 'd["stdout"].split()[:4]')" \
    "0 ['0', '0', '1', '1879113728']" "root itself"
sleep 0.2
LEFT_UIDS=$uids-$((uids + count - 1)) "$here/libleft.py" diff $house/before \
    >$house/log
ok $? "nothing is left" $house/log
is "$(ls -A $house/open)" "d
link" "no file either"
echo "1..$n"
