#!/bin/bash
# Every way in: file capabilities and the socket with all examples' answers and
# who may use them; and a table of what each way gives.  (The set-user-id bit is
# setuid.t's, rootless and bwrap have tests of their own.)
. selftest/payload/setuid.sh

case $BUILD in
*san|*cov) echo "1..0 # SKIP only a release build is installed"; exit 0 ;;
esac

# Names for those whom newuidmap has to know, and somewhere for their locks.
cp /etc/passwd /etc/group "$work" && cp "$work/passwd" "$work/group" /etc
printf 'alice:x:%d:%d::/:/bin/sh\nbob:x:%d:%d::/:/bin/sh\n' \
    $ALICE $ALICE $BOB $BOB >>/etc/passwd
printf 'alice:x:%d:\nbob:x:%d:\nbailiff:x:%d:\n' $ALICE $BOB $GROUP >>/etc/group
echo "alice:$((BASE + 2000)):65536" >/etc/subuid
cp /etc/subuid /etc/subgid
install -d -o $ALICE -m 700 "$work/runtime"

# make install gives these two as well, where the machine has them to give
caps="setuid setgid kill sys_admin net_admin mknod chown setpcap"
bound=$((16#$(awk '/^CapBnd/ { print $2 }' /proc/self/status)))
[ $((bound >> 24 & 1)) = 0 ] || caps+=" sys_resource"
[ $((bound >> 23 & 1)) = 0 ] || caps+=" sys_nice"
list=$(printf ',cap_%s' $caps)
install -o root -g $GROUP -m 0750 "$BUILD/bailiff-helper" "$S/capable"
setcap "${list#,}=ep" "$S/capable" 2>"$work/err"
have_caps=$?
install -o root -m 0755 "$BUILD/bailiff-helper" "$S/plain"
sock=/run/bailiff.sock
# shellcheck disable=SC2329
ended() {
	kill "$listener" 2>/dev/null
	wait "$listener" 2>/dev/null
}
listen() {	# HELPER
	rm -f $sock
	systemd-socket-activate --accept --seqpacket -l $sock "$1" \
	    >"$work/listen" 2>&1 &
	listener=$!
	trap ended EXIT
	for _ in {1..50}; do
		[ -S $sock ] && break
		sleep 0.1
	done
	chgrp $GROUP $sock && chmod 660 $sock
}
have_socket=1
if command -v systemd-socket-activate >/dev/null; then
	listen "$S/plain"
	have_socket=$?
fi

# A client of a user's: WAY decides what it finds.
by() {		# WAY UID COMMAND...
	local way=$1 uid=$2 who h=$S/nowhere
	shift 2
	who=(setpriv --reuid="$uid" --regid="$uid" --groups=$GROUP)
	[ "$uid" != 0 ] || who=(setpriv --groups=$GROUP)
	case $way in
	setuid)		h=$H ;;
	capabilities)	h=$S/capable ;;
	root|socket)	h=$S/plain ;;
	rootless|bwrap|plain)
			h= ;;
	esac
	"${who[@]}" env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/ \
	    XDG_CONFIG_HOME=/none ${h:+BAILIFF_HELPER="$h"} \
	    XDG_RUNTIME_DIR="$work/runtime" "$@"
}
run() {		# WAY UID OPTION...: bailiff exec --json
	local way=$1 uid=$2
	shift 2
	by "$way" "$uid" "$C" exec --json "$@" >"$work/out" 2>"$work/err" </dev/null
	st=$?
}

# --- what each gives ---------------------------------------------------------

# rootless and bwrap find the helper beside the client, or need none
cp "$BUILD/bailiff-helper" "$S/beside" 2>/dev/null
mkdir -p "$S/both" && cp "$C" "$S/both/bailiff" &&
    cp "$BUILD/bailiff-helper" "$S/both/bailiff-helper" && chmod 755 "$S/both"/*
table=()
gives() {	# WAY UID SEPARATION UID-SEEN [OPTION...]
	local way=$1 uid=$2 sep=$3 seen=$4 c=$C
	shift 4
	case $way in rootless|bwrap|plain) c=$S/both/bailiff ;; esac
	by "$way" "$uid" "$c" run --json --way "$way" "$@" "$work/ex/sum" --answer \
	    "$work/ex/sum/answers/right.py" >"$work/out" 2>"$work/err" </dev/null
	st=$?
	is "$st $(ask '"%s %s %s" % (d["way"], d["separation"],
	    d["protections"]["uid"])')" "0 $way $sep $seen" "$way: a right answer"
	table+=("$(printf '%-13s %s' "$way" "$(ask '" ".join(["%s=%s" % (k, v if
	    type(v) is str else "yes" if v else "no") for k, v in
	    d["protections"].items() if k != "rules"] + [d["separation"]])')")")
}
cp selftest/payload/wire.py "$work"
cp -r examples "$work/ex" && chmod -R a+rX "$work/ex"
gives setuid $ALICE users+namespaces True
if [ $have_caps = 0 ]; then
	gives capabilities $ALICE users+namespaces True
else
	skip "capabilities: a right answer" "setcap doesn't work here"
fi
if [ $have_socket = 0 ]; then
	gives socket $ALICE users+namespaces True
else
	skip "socket: a right answer" "there is no systemd-socket-activate"
fi
gives root 0 users+namespaces True
if command -v newuidmap >/dev/null; then
	gives rootless $ALICE users+namespaces True
else
	skip "rootless: a right answer" "there is no newuidmap"
fi
if command -v bwrap >/dev/null; then
	gives bwrap $ALICE namespaces False
else
	skip "bwrap: a right answer" "there is no bwrap"
fi
gives plain $ALICE none False --require none
printf '# %s\n' "${table[@]}"

# --- file capabilities -------------------------------------------------------

if [ $have_caps = 0 ]; then
	run capabilities $ALICE -- sh -c 'exit 7'
	is "$st $(ask 'd["way"]')" "7 capabilities" "no set-user-id bit: a run"
	setpriv --reuid=$BOB --regid=$BOB --clear-groups env -i BAILIFF_HELPER="$S/capable" \
	    "$C" exec --json -- true >"$work/out" 2>"$work/err" </dev/null
	st=$?
	is "$(why)" "125 helper_start helper/exec" "not for those outside its group"
	[ $have_socket != 0 ] || ended
	rm -f $sock
	by capabilities $ALICE setpriv --no-new-privs "$C" exec --json -- true \
	    >"$work/out" 2>"$work/err"
	st=$?
	is "$(why)" "125 helper_not_root helper/root" "nor with no_new_privs"
	[ $have_socket != 0 ] || listen "$S/plain"
else
	skip "file capabilities" "setcap doesn't work here"
fi

# --- the socket --------------------------------------------------------------

if [ $have_socket = 0 ]; then
	run socket $ALICE -- id -u
	is "$st $(ask 'd["way"]')" "0 socket" "a helper that can't gain rights, \
and the socket: a run by it"
	like "$(ask 'd["stdout"].strip()')" "$BASE|$((BASE + 64))|1[0-9]*" \
	    "as a user of its own"
	by setuid $ALICE setpriv --no-new-privs "$C" exec --json -- true \
	    >"$work/out" 2>"$work/err" </dev/null
	is "$? $(ask 'd["way"]')" "0 socket" "a client with no_new_privs: by it, too"
	run setuid $ALICE -- true
	is "$st $(ask 'd["way"]')" "0 setuid" "but a helper that works comes first"
	setpriv --reuid=$ALICE --regid=$ALICE --clear-groups env -i \
	    BAILIFF_HELPER="$S/plain" "$C" exec --json -- true \
	    >"$work/out" 2>"$work/err" </dev/null
	st=$?
	is "$(why)" "125 helper_socket helper/connect" "not for those outside its group"
	like "$(cat "$work/err" "$work/out")" '.*adduser USER bailiff.*' "with the hint"
	run socket 4999 -- true
	is "$(why)" "125 caller_not_allowed helper/caller" \
	    "one whom the rules don't name: refused by his own number"
	# who connected counts: not the root that started the helper
	{ echo "group 5999"; sed -n '/^caller/p' "$work/rules.src"; } >"$work/lines"
	rules <"$work/lines"
	run socket $ALICE -- true
	is "$(why)" "125 caller_not_allowed helper/caller" \
	    "in none of the rules' groups: refused"
	by socket 0 "$C" exec --json --way socket -- true >"$work/out" 2>"$work/err" \
	    </dev/null
	st=$?
	is "$(why)" "125 caller_not_allowed helper/caller" "root is no exception"
	setpriv --reuid=$ALICE --regid=$ALICE --groups=$GROUP,5999 env -i \
	    BAILIFF_HELPER="$S/plain" "$C" exec --json -- true \
	    >"$work/out" 2>"$work/err" </dev/null
	is "$? $(ask 'd["way"]')" "0 socket" "with that group: a run"
	usual
	mv /etc/bailiff/rules "$work/rules.kept"
	run socket $ALICE -- true
	is "$(why)" "125 rules_unsound helper/rules" \
	    "without rules: refused, for nobody has the built-in ones by it"
	mv "$work/rules.kept" /etc/bailiff/rules
	by socket $ALICE /usr/bin/python3 "$work/wire.py" $sock \
	    >"$work/wire" 2>&1
	like "$(tail -n 1 "$work/wire")" '[0-9]+ 0' \
	    "broken messages, and silence: each ends by itself alone"
	grep '^#' "$work/wire"
	run socket $ALICE -- sh -c 'exit 7'
	is $st 7 "and a run after them"
	for _ in {1..20}; do
		helpers=$(find /proc -maxdepth 2 -path '/proc/[0-9]*/exe' -lname \
		    "$S/plain" 2>/dev/null | wc -l)
		[ "$helpers" = 0 ] && break
		sleep 0.1
	done
	is "$helpers" 0 "no helper of theirs is left"
	# many at once, and a client that is killed
	for _ in {1..12}; do
		run_many() { by socket $ALICE "$C" exec -- sh -c 'exit 7'; }
		run_many >/dev/null 2>&1 </dev/null &
	done
	bad=0
	for job in $(jobs -p); do
		[ "$job" = "$listener" ] && continue
		wait "$job"
		[ $? = 7 ] || bad=$((bad + 1))
	done
	is $bad 0 "twelve at once"
	setpriv --reuid=$ALICE --regid=$ALICE --groups=$GROUP env -i \
	    BAILIFF_HELPER="$S/plain" "$C" exec -- sleep 60 >/dev/null 2>&1 \
	    </dev/null &
	pid=$!
	sleep 1
	is "$(basename "$(readlink /proc/$pid/exe)")" bailiff "a client"
	kill -9 $pid
	wait $pid 2>/dev/null
	nothing_left "a client that is killed: nothing is left"
	ended
	run socket $ALICE -- true
	is "$(why)" "125 helper_socket helper/connect" "nobody listens: no run, \
and no weaker way"
	rm -f $sock
	run socket $ALICE -- true
	is "$(why)" "125 helper_not_root helper/root" \
	    "no socket, and a helper that is installed and can't: no weaker way"
	ln -s /run/nowhere $sock
	run socket $ALICE -- true
	is "$(why)" "125 helper_socket helper/connect" \
	    "a socket that is a link to nowhere: no weaker way"
	rm -f $sock
	listen "$S/plain"
else
	skip "the socket" "there is no systemd-socket-activate"
fi

# --- every answer by these two -----------------------------------------------

all() {		# WAY
	local env answer want score got bad=0 count=0
	while IFS=$'\t' read -r env answer want score; do
		case $env in \#*|'') continue ;; esac
		by "$1" $ALICE "$C" run --json --way "$1" "$work/ex/$env" --answer \
		    "$work/ex/$env/answers/$answer" >"$work/out" 2>"$work/err" \
		    </dev/null
		got=$(ask '"%s %.4g" % (d["verdict"], d.get("score", -1))')
		[ "$got" = "$want $score" ] || {
			echo "# $env $answer: $got, not $want $score"
			bad=$((bad + 1))
		}
		count=$((count + 1))
	done < <(awk -F'\t' 'BEGIN { OFS = "\t" } !/^#/ { print $1, $2, $3, $4 }' \
	    "$work/ex/expected.tsv")
	[ $bad = 0 ] && [ $count -gt 100 ]
	ok $? "$1: $count answers, each with its verdict and score"
}
[ $have_caps != 0 ] || all capabilities
[ $have_socket != 0 ] || all socket
nothing_left "nothing is left of all that"
done_testing
