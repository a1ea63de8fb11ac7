#!/bin/bash
# F05. Changed after it was checked: what is used is what was looked at.
. selftest/payload/setuid.sh

known 'its listener is made to wait' 'a caller that shares its listener holds up its own cell'
known 'what takes long to close' 'a lingering socket: SECURITY.md, residual risks'

hostile F05
nothing_left "nothing is left of them"

# A file that is rewritten, cut and stretched all the time.
file=$work/open/moving.sh
cat >"$S/mover.pl" <<'END'
my ($file) = @ARGV;
my $i = 0;
for (;;) {
	open my $f, "+<", $file or die;
	syswrite $f, chr(65 + $i++ % 26) x (1 << 20);
	truncate $f, int rand 1 << 20 if $i % 3 == 0;
	truncate $f, 0 if $i % 7 == 0;
	close $f;
}
END
mover() {
	: >"$file"
	chmod 666 "$file"
	begin $ALICE perl "$S/mover.pl" "$file" &
	mover=$!
}
mover
bad= good=0
for i in {1..40}; do
	as $ALICE timeout -k 1 10 "$C" exec --json --put "$file:x" -- \
	    sh -c 'cat x | wc -c; cksum <x; cksum <x' >"$work/out" \
	    2>"$work/err" </dev/null
	st=$?
	case $st in
	0)	good=$((good + 1))
		[ "$(ask 'len(set(d["stdout"].split("\n")[1:3]))')" = 1 ] ||
		    bad+=" $i:changes" ;;
	125)	;;
	*)	bad+=" $i:$st" ;;
	esac
done
is "$bad" "" "40 copies of a file that is written and cut: one version, or \
125 ($good)"

# Judge and answer have the same version of it.
cat >"$work/verifier" <<'END'
#!/bin/sh
mine=$(cksum <moving.sh 2>/dev/null || cksum <solution.sh)
its=$("$BAILIFF_ANSWER" -- sh -c 'cksum <solution.sh')
again=$("$BAILIFF_ANSWER" -- sh -c 'cksum <solution.sh')
if [ "$mine" = "$its" ] && [ "$its" = "$again" ]; then
	echo '{"score": 1, "passed": true}'
else
	echo '{"score": 0, "passed": false}'
fi
END
chmod 755 "$work/verifier"
bad= good=0
for i in {1..30}; do
	as $ALICE timeout -k 1 10 "$C" run --json --judge "$work/verifier" \
	    --answer "$file" >"$work/out" 2>"$work/err" </dev/null
	st=$?
	case $st in
	0)	good=$((good + 1)) ;;
	1)	bad+=" $i:two versions" ;;
	3|77)	grep -q '"score"' "$work/out" && bad+=" $i:score" ;;
	*)	bad+=" $i:$st" ;;
	esac
done
is "$bad" "" "30 runs of an answer that is written and cut: judge and answer \
have one version, or no verdict ($good)"
kill $mover
{ wait $mover; } 2>/dev/null
echo 'exit 0' >"$file"
as $ALICE "$C" run --judge "$work/verifier" --answer "$file" >"$work/out" \
    2>"$work/err" </dev/null
is $? 0 "control: one that holds still"
nothing_left "nothing is left"
done_testing
