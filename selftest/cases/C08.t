#!/bin/bash
# C08. Programs that give rights: none does; rights only ever go down, for the
# whole tree of processes.
# More of the kind: the tree in nine ways; programs with each kind of right that
# the caller shows, also by link, script, loader and preload; nineteen calls and
# seven programs to set each bit, also above 32 bits, on memfd and /dev/shm;
# file capabilities; ids, groups, capability sets and secure bits by asking.
# shellcheck disable=SC2016,SC2086 # inner shells; no blanks
. selftest/payload/cell.sh
build idshow || { ok 1 "a program to show ids"; done_testing; exit; }

# --- what it is ------------------------------------------------------------------
cell -- /p/idshow >"$work/in"
plain "$work/p/idshow" >"$work/out"
uid=$(said in uid)
uid=${uid%%,*}
like "$(said in uid)" "$uid,$uid,$uid,$uid" "one user number in all four places"
like "$(said in gid)" "$uid,$uid,$uid,$uid" "one group number in all four places"
[ "$uid" -gt 65534 ] && [ "$uid" != "$(id -u)" ]
ok $? "and not the caller's"
is "$(said in groups)" 0 "no further groups"
is "$("$B" exec -- sh -c '[ "$(id -G)" = "$(id -u)" ] && id -G | wc -w')" 1 \
    "the same by id"
both caps 0,0,0,0,0 '0,0,0,[1-9a-f].*' "all five sets of capabilities are empty"
both no_new_privs 1 0 "no_new_privs"
both secure 0 0 "not a privileged start"
is "$(said in securebits)" 0 "no odd bits"
if [ $root = 1 ]; then
	"$work/p/idshow" >"$work/out"
	like "$(said out caps)" '[1-9a-f][0-9a-f]+,[1-9a-f].*' \
	    "control: root has some"
fi

# Which of the caller's numbers it is may differ from run to run.
cat >"$work/p/anybody.sh" <<'SH'
sed -E 's/\b[0-9]{6,}\b/U/g' | head -n 7
SH
anybody() {
	sh "$work/p/anybody.sh"
}
anybody <"$work/in" >"$work/want"

cat >"$work/p/tree.py" <<'PY'
import os, sys, threading
for _ in range(5):
    if os.fork():
        os.wait()
        sys.exit()
    os.setsid()
t = threading.Thread(target=lambda: os.system(sys.argv[1]))
t.start()
t.join()
PY
tree() {	# FILE: the ways by which it is another
	"$B" exec --ro-bind "$work/p:/p" --put "$1:want" -- sh -c '
	for c in "setsid -w" nohup "nice -n 5" "timeout 5" "env -i" \
	    "sh -c \"\$0\"" "setpriv --nnp" "/usr/bin/python3 /p/tree.py" xargs
	do
		echo /p/idshow | eval "$c /p/idshow" 2>/dev/null |
		    sh /p/anybody.sh | cmp -s - want || echo "$c"
	done' 2>&1
}
is "$(tree "$work/want")" "" "the same for the whole tree, in nine ways"
sed 's/^caps 0/caps 1/' "$work/want" >"$work/unlike"
is "$(tree "$work/unlike" | wc -l)" 9 "control: each of them could differ"

# --- programs that give rights ------------------------------------------------------
cell -- $PY /p/rights.py every / >"$work/in" 2>&1
plain $PY "$work/p/rights.py" every /usr >"$work/out" 2>&1
both gained 0 '[1-9].*' "of $(said in programs) programs none gives a right"
like "$(said in programs)" '[1-9].*' "control: there are such programs"
echo "# told nothing: $(said in silent)"

# Some of our own: for whom, and by what.
if [ $root = 1 ]; then
	f=$work/p/idshow
	cp "$f" "$f.root" && chmod 4755 "$f.root"
	cp "$f" "$f.user" && chown 12345 "$f.user" && chmod 4755 "$f.user"
	cp "$f" "$f.group" && chgrp 42 "$f.group" && chmod 2755 "$f.group"
	cp "$f" "$f.both" && chown 0:42 "$f.both" && chmod 6755 "$f.both"
	cp "$f" "$f.caps" && $PY -c 'import os, sys; os.setxattr(sys.argv[1],
    "security.capability", bytes.fromhex("01000002ffffffff" + "00" * 4 +
    "ff010000" + "00" * 4))' "$f.caps"
	cp "$f" "$f.inherit" && $PY -c 'import os, sys; os.setxattr(sys.argv[1],
    "security.capability", bytes.fromhex("0100000200000000ffffffff" +
    "00" * 8))' "$f.inherit"
	for w in root user group both caps inherit; do
		cell -- /p/idshow.$w >"$work/in" 2>&1
		anybody <"$work/in" | cmp -s - "$work/want"
		ok $? "a program shown by the caller: $w" "$work/in"
		plain "$f.$w" >"$work/out" 2>&1
		! cmp -s <(grep -v no_new_privs "$work/out") \
		    <(plain "$f" | grep -v no_new_privs)
		r=$?
		[ $w = inherit ] || ok $r "control: outside it gives rights: $w" "$work/out"
	done
	# the same below each writable folder, and by a link and a script
	"$B" exec --ro-bind "$work/p:/p" --put "$work/want:want" -- sh -c '
	    like() { sh /p/anybody.sh | cmp - want; }
	    ln -s /p/idshow.root link; ./link | like
	    printf "#!/p/idshow.root\n" >s; chmod 755 s; ./s | like
	    set -- /lib*/ld-linux-*.so.*; "$1" /p/idshow.root | like
	    LD_PRELOAD=libm.so.6 /p/idshow.root | like' >"$work/in" 2>&1
	is "$(cat "$work/in")" "" "by a link, a script, the loader, with a preload"
	source=/p/idshow.both
else
	skip "programs shown by the caller" "needs root"
	source=/usr/bin/su
fi

# --- of its own making -----------------------------------------------------------------
mkdir -m 0777 "$work/open/m"
cell -- $PY /p/rights.py make /tmp $source >"$work/in" 2>&1
plain sh -c 'cp "$0" own && chmod 6755 own' "$work/p/idshow"
plain $PY "$work/p/rights.py" make "$work/open/m" "$work/open/own" >"$work/out" 2>&1
calls="fchmod fchmodat fchmod_high fchmodat_high openat openat_high tmpfile_at
    mknodat memfd shm"
# calls that newer architectures don't have
[ "$(uname -m)" != x86_64 ] || calls+=" chmod chmod_high open tmpfile creat mknod"
for bit in u g; do
	for w in $calls; do
		both ${w}_$bit EPERM ok "the bit by $w, $bit" 'EOPNOTSUPP'
	done
	both openat2_$bit ENOSYS ok "the bit by openat2, $bit" ENOSYS
	both fchmodat2_$bit EPERM ok "the bit by fchmodat2, $bit" ENOSYS
	both fchmodat2_fd_$bit EPERM ok "the bit by fchmodat2, $bit" ENOSYS
done
is "$(said in capability)" EPERM "a capability of a file"
like "$(said in acl)" 'EINVAL|EOPNOTSUPP|EPROTO|ENOTSUP' "by an access list"
for w in cp_attributes install tar cpio chmod; do
	both by_$w none bit "the bit by a program: $w"
done
both by_cp none bit "the bit by a program: cp"
both by_link none 'none|bit' "the bit by a link"
is "$("$B" exec --ro-bind "$work/p:/p" --tmpfs /t -- awk \
    '$6 !~ /(^|,)nosuid(,|$)/ { print $5 }' /proc/self/mountinfo)" "" \
    "and no mount would honour it"
[ -n "$(awk '$6 !~ /nosuid/ { print $5 }' /proc/self/mountinfo)" ]
ok $? "control: outside some would"

# --- by asking -----------------------------------------------------------------------------
cell -- $PY /p/rights.py regain >"$work/in" 2>&1
space $PY "$work/p/rights.py" regain >"$work/out" 2>&1
maps='EINVAL|EPERM'		# a namespace with one user alone
for to in 0 1 next; do
	for w in setuid setreuid setresuid setgid setregid setresgid setgroups
	do
		both ${w}_$to EPERM ok "$w: $to" "$maps"
	done
done
both setgroups EPERM ok "dropping groups" EPERM
both setfsuid EPERM ok "the file system's user" EPERM
both setfsgid EPERM ok "the file system's group" EPERM
for w in effective permitted inheritable; do
	both capset_$w EPERM ok "a capability: $w"
done
both ambient EPERM ok "a capability: ambient"
both ambient_alone EPERM 'ok|EPERM' "a capability: ambient, without others"
both securebits EPERM ok "the secure bits"
both bounding EPERM ok "the bounding set"
both privileges_again EINVAL EINVAL "no_new_privs can't be taken back"
both threads same same "all threads are the same"
zero=0000000000000000
is "$(said in status)" "$zero $zero $zero $zero $zero 1 2" "and so says /proc"
done_testing
