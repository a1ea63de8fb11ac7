#!/bin/bash
# E03. Inherited signals and timers: what survives the start of a program is
# set back first; no child's end is lost or made up.
. selftest/payload/setuid.sh

hostile E03

under() {	# NAME PERL [STATUS]: the client, started by these words
	local want=${3:-7}
	as $ALICE perl -e 'use POSIX; '"$2"';
	    exec @ARGV or die' "$C" exec -- sh -c \
	    'sh -c "exit 3"; [ $? = 3 ] && exit 7' >"$work/out" \
	    2>"$work/err" </dev/null
	like $? "$want" "the client: $1" "$work/err"
}
all='$s = POSIX::SigSet->new; $s->fillset; sigprocmask(SIG_BLOCK, $s)'
under "SIGCHLD is ignored" '$SIG{CHLD} = "IGNORE"'
under "all signals are ignored" '$SIG{$_} = "IGNORE" for keys %SIG'
under "SIGPIPE is ignored" '$SIG{PIPE} = "IGNORE"'
under "all signals are blocked" "$all"
under "all are blocked, and children have ended" "$all; fork or exit 9;
    kill CHLD => \$\$"
under "SIGTERM waits" "$all; kill TERM => \$\$" '7|130|143'
under "it has children of its own that end" 'for (1..5) {
    unless (fork) { select undef, undef, undef, 0.002 * $_; exit $_ } }'
as $ALICE perl -e 'alarm 1; exec @ARGV' "$C" exec -- sh -c \
    'sleep 2; exit 7' >"$work/out" 2>"$work/err" </dev/null
like $? '7|142' "the client: an alarm in a second"
nothing_left "nothing is left of it"
bad=0
for i in {1..40}; do
	as $ALICE perl -e '$SIG{CHLD} = "IGNORE"; exec @ARGV' "$C" exec -- \
	    sh -c "exit $i" </dev/null >/dev/null 2>&1
	[ $? = $i ] || bad=$((bad + 1))
done
is $bad 0 "40 runs with SIGCHLD ignored: 40 right statuses"
nothing_left "nothing is left"
done_testing
