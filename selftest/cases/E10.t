#!/bin/bash
# E10. A machine that cannot: each call that the helper needs fails in turn,
# everywhere and at each place alone.  Never a run with one wall less.
. selftest/payload/setuid.sh

if ! build deny -lseccomp 2>"$work/err"; then
	skip "each needed call fails in turn" "libseccomp can't be compiled with"
	done_testing
	exit 0
fi

cp selftest/payload/walls.sh "$work/walls"

mkdir "$work/runs"
# By another way in (ways_cases.t) the same, with what that needs.
way=()
finds=(BAILIFF_HELPER="$H")
case ${BL_WAY-} in
rootless)
	cp /etc/passwd /etc/group "$work" && cp "$work/passwd" "$work/group" /etc
	echo "alice:x:$ALICE:$ALICE::/:/bin/sh" >>/etc/passwd
	echo "alice:x:$ALICE:" >>/etc/group
	echo "alice:$((BASE + 2000)):65536" >/etc/subuid
	cp /etc/subuid /etc/subgid
	install -d -o $ALICE -m 700 "$work/runtime"
	mkdir "$S/beside" && cp "$C" "$S/beside" &&
	    install -m 755 "$BUILD/bailiff-helper" "$S/beside"
	C=$S/beside/bailiff
	way=(--way rootless)
	finds=(XDG_RUNTIME_DIR="$work/runtime") ;;
socket)	mkdir "$S/listens" &&
	    install -m 755 "$BUILD/bailiff-helper" "$S/listens"
	way=(--way socket) ;;
esac

# One command under the filter; or, by the socket, whatever serves it.
denied() {	# DENY-OPTION... -- COMMAND...
	local opts=() sock deny st i
	while [ "$1" != -- ]; do
		opts+=("$1")
		shift
	done
	shift
	if [ "${BL_WAY-}" != socket ]; then
		timeout -k 1 $((12 * slow)) "$S/deny" "${opts[@]}" -- setpriv \
		    --reuid=$ALICE --regid=$ALICE --groups=$GROUP env -i \
		    PATH=/usr/bin:/bin HOME=/ XDG_CONFIG_HOME=/none \
		    "${finds[@]}" "$@"
		return
	fi
	sock=$(mktemp -u "$S/sock.XXXXXX")
	"$S/deny" "${opts[@]}" -- systemd-socket-activate --accept --seqpacket \
	    -l "$sock" "$S/listens/bailiff-helper" >/dev/null 2>&1 &
	deny=$!
	for ((i = 0; i < 100; i++)); do
		[ -S "$sock" ] && break
		sleep 0.02
	done
	chgrp $GROUP "$sock" && chmod 660 "$sock"
	timeout -k 1 $((12 * slow)) setpriv --reuid=$ALICE --regid=$ALICE --groups=$GROUP \
	    env -i PATH=/usr/bin:/bin HOME=/ XDG_CONFIG_HOME=/none \
	    BAILIFF_SOCKET="$sock" "$@" 9>&-
	st=$?
	pkill -P $deny
	wait $deny
	rm -f "$sock"
	return $st
}
trial() {	# NAME DENY-OPTION...: its object is in runs/NAME
	local name=$1
	shift
	denied "$@" -- "$C" exec --json "${way[@]}" \
	    --put "$work/walls:walls" --ro-bind "$work/open:/srv/x" \
	    --tmpfs /srv/y:1m -- sh walls \
	    9>"$work/runs/$name.n" >"$work/runs/$name" \
	    2>"$work/runs/$name.err" </dev/null
	echo $? >"$work/runs/$name.st"
}

# Says of each run whose name starts so: "stopped STEP", "same", or what else.
cat >"$work/judge.py" <<'END'
import json, os, re, sys
runs, first = sys.argv[1:3]

def load(name):
    st = int(open(f"{runs}/{name}.st").read())
    try:
        d = json.load(open(f"{runs}/{name}", encoding="utf-8"))
    except ValueError:
        return st, None
    return st, d

def walls(d):
    uid = re.search(r"^Uid:\t(\d+)", d["stdout"], re.M)
    text = d["stdout"].replace(uid.group(1), "SLOT") if uid else d["stdout"]
    # of a mount, the kernel tells the number outside of a user namespace
    text = re.sub(r"uid=\d+,gid=\d+", "uid=SLOT,gid=SLOT", text)
    # where a node can't be made the host's own serves, and is as harmless
    text = re.sub(r"^/(null|zero|full|random|urandom|tty) /dev/\1 "
                  r"r[ow],nosuid,noexec\S* .*\n", "", text, flags=re.M)
    return text + d["stderr"] + json.dumps(d["protections"])

st, base = load("base")
bad, ends = [], {}
for name in sorted(n[:-3] for n in os.listdir(runs)
                   if n.startswith(first) and n.endswith(".st")):
    st, d = load(name)
    if st == 125 and d and d.get("error", {}).get("step"):
        end = "stopped"
        ends.setdefault(d["error"]["step"], []).append(name)
    elif st == 0 and d and walls(d) == walls(base):
        end = "same"
        ends.setdefault("no difference", []).append(name)
    else:
        bad.append(name)
        print(f"# {name}: status {st}")
        if d and st == 0:
            a, b = walls(base).split("\n"), walls(d).split("\n")
            for line in [f"# - {x}" for x in a if x not in b][:5]:
                print(line[:200])
            for line in [f"# + {x}" for x in b if x not in a][:5]:
                print(line[:200])
        else:
            err = open(f"{runs}/{name}.err", errors="replace").read()
            print("# " + err[:300].replace("\n", "\n# "))
print("# " + ", ".join(f"{k}: {len(v)}" for k, v in sorted(ends.items())))
if len(sys.argv) > 3:
    print("# went on: " + " ".join(n[len(first):]
          for n in ends.get("no difference", [])))
sys.exit(len(bad) > 0)
END
judged() {	# START NAME
	local count good
	count=$(ls "$work/runs" | grep -c "^$1.*\.st$")
	/usr/bin/python3 "$work/judge.py" "$work/runs" "$1" more >"$work/said" 2>&1
	good=$?
	cat "$work/said"
	ok $good "$count runs: $2"
}

# Two at a time: "NAME OPTION..." is on each line of stdin.
trials() {
	local i name rest
	cat >"$work/list"
	for i in 0 1; do
		awk "NR % 2 == $i" "$work/list" | while read -r name rest; do
			# shellcheck disable=SC2086
			trial "$name" $rest
		done &
	done
	wait
}

trial base -n 999999 clone3 EPERM
is "$(cat "$work/runs/base.st")" 0 "control: a run under a filter that lets \
everything through" "$work/runs/base"
is "$(cat "$work/runs/base.n")" 1 "control: the filter sees the helper's calls"
trial base2 -n 999999 mkdirat EPERM
judged base2 "control: two such runs look the same"

# Calls that a cell, or the end of all rights, is made of.  Left out are those
# that can't fail so (umask, wait4), and execve, which is the program's too.
calls="clone3 unshare setns open_tree move_mount mount_setattr fsopen fsconfig
    fsmount
    pivot_root umount2 close_range sethostname mknodat mkdirat symlinkat
    fchownat openat openat2 ioctl capset capget prctl seccomp setresuid
    setresgid setgroups getgroups getresuid getresgid socketpair socket
    pidfd_open keyctl connect poll signalfd4 rt_sigprocmask
    mmap clone chdir fchdir fstatfs newfstatat fcntl dup2 setsid getpriority
    prlimit64 personality setitimer pread64"
for call in $calls; do
	for no in ENOSYS EPERM ENOSPC EAGAIN; do
		echo "all-$call-$no $call $no"
	done
done | trials
judged all- "a call fails, wherever it is made"

# Each place alone (one in several, where there are many), with the usual
# refusal; where a list is read to its end, with what is its end.
places() {	# START CALL ERRNO
	local count i
	trial count -n 999999 "$2" EPERM
	count=$(cat "$work/runs/count.n")
	for ((i = 1; i <= count; i += (count + 39) / 40)); do
		echo "$1-$2-$i -n $i $2 $3"
	done
}
for call in $calls; do
	places one "$call" EPERM
done >"$work/all"
places end prctl EINVAL >>"$work/all"
trials <"$work/all"
judged one- "a call fails at one place"
judged end- "a list has an end before its end"

# What the machine lacks is left out; what it has is not, whatever a call says.
for call in move_mount mkdirat fsopen pivot_root; do
	places none $call ENOENT
done >"$work/all"
trials <"$work/all"
judged none- "a part of a wall is said not to be there"

# A call that claims success and has done nothing.  (clone3 is left out: to
# claim success there is to say "you are the child".)
for call in unshare setns move_mount mount_setattr pivot_root umount2 \
    close_range \
    mknodat mkdirat fchownat ioctl capset seccomp setresuid setresgid \
    setgroups keyctl chdir fchdir dup2; do
	echo "lie-$call $call 0"
done | trials
judged lie- "a call does nothing, and says that it has # TODO close_range, \
seccomp and umount2 are believed"

# The second cell of a run: what it lacks must not come from the first.
mkdir "$work/two"
cat >"$work/two/verifier" <<'END'
#!/bin/sh
net=$(readlink /proc/self/ns/net)
[ "$("$BAILIFF_ANSWER" -- readlink /proc/self/ns/net)" != "$net" ] &&
    echo '{"score":1,"passed":true}' || echo '{"score":0,"passed":false}'
END
echo "Two networks." >"$work/two/task.md"
echo >"$work/two/a.sh"
chmod -R a+rX "$work/two"
chmod +x "$work/two/verifier"
second() {	# DENY-OPTION...: the exit status of a run
	denied "$@" -- "$C" run --json "${way[@]}" "$work/two" --answer \
	    "$work/two/a.sh" 9>"$work/n" >"$work/out" 2>"$work/err" </dev/null
	echo $?
}
is "$(second -n 999999 unshare 0)" 0 "control: a run with two cells"
for call in unshare setns; do
	for i in 1 2 3 4; do
		for no in 0 EPERM; do
			st=$(second -n $i $call $no)
			[ "$(cat "$work/n")" = 0 ] || [ "$st" = 3 ] ||
			    grep -q '"verdict": *"passed"' "$work/out"
			ok $? "$call $i says $no: no verdict, or two networks ($st)"
		done
	done
done

# Time is a wall, too.
for no in ENOMEM EINTR; do
	for i in 1 2 3 4 5 6; do
		from=$(date +%s%N)
		denied -n $i poll $no -- "$C" exec "${way[@]}" -t 0.5 -- \
		    sleep 20 >"$work/out" 2>"$work/err" </dev/null
		st=$?
		ms=$((($(date +%s%N) - from) / 1000000))
		[[ $st =~ ^(124|125)$ ]] && [ $ms -lt 3000 ]
		ok $? "poll $i says $no: limit time, or no run ($st after $ms ms)"
	done
done
nothing_left "nothing is left of all that"
done_testing
