#!/bin/bash
# I04. Late clock: the end that came first counts, however slow the rest is.
# More of the kind: just before and just after the limit; a clean-up of many
# files and processes that takes beyond it; a judge that is slow after the
# answer's end; output in the pipe at the end; calls at the edge; a stopped
# client or helper that lets the limit pass.
. selftest/payload/judged.sh
runs

# All times are longer on an emulated processor.
t() {
	awk "BEGIN { print $1 * $slow }"
}
at() {		# SECONDS LIMIT WANT NAME MORE
	printf 'import os, time\n%b\ntime.sleep(max(0, %s - (time.clock_gettime(time.CLOCK_BOOTTIME) - float(open("/proc/self/stat").read().rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK"))))\nos._exit(7)\n' \
	    "${5-}" "$(t "$1")" | answer late.py
	run runs.sh late.py -t "$(t "$2")"
	gives "$zero" "$4"
	like "$(facts limit exit_code)" "$3" "$4: $(facts limit exit_code wall_ms)"
}
at 0.5 1.2 "None 7" "well before its limit"
at 1.1 1.2 "None 7" "just before its limit"
at 1.4 1.2 "time None" "just after its limit"
at 9 0.8 "time None" "far after its limit"
at 1.1 1.2 "None 7" "just before it, and much to end" \
    'for i in range(200):\n  if os.fork() == 0: time.sleep(99)'
at 1.1 1.2 "None 7" "just before it, and much to remove" \
    'for i in range(7000): open("f%d" % i, "w").close()'
at 1.1 1.2 "None 7" "just before it, and a full pipe" 'os.write(1, b"x" * 60000)'
[ "$(ask 'd["answers"][0]["stdout_bytes"]')" = 60000 ]
ok $? "and what was in the pipe counts"
took=$(ask 'd["answers"][0]["wall_ms"]')
[ "$took" -ge $((900 * slow)) ] && [ "$took" -le $((1250 * slow)) ]
ok $? "the time that is told is the answer's own ($took ms)"

# A judge that dawdles: the answer's time is not the judge's.
verifier slow.sh <<E
#!/bin/sh
"\$BAILIFF_ANSWER" -t $(t 0.6) -- python3 "\$1" >out 2>err </dev/null
st=\$?
sleep $(t 1)
printf '{"score": 0, "passed": false, "details": "%s"}\n' \$st
E
echo 'print("done")' | answer late.py
run slow.sh late.py
is "$(facts limit exit_code)" "None 0" "a judge that takes longer than the limit"
[ "$(ask 'd["answers"][0]["wall_ms"]')" -lt $((600 * slow)) ]
ok $? "and the answer's time is its own"
# The control: a delay in the clean-up, by a helper or client that is stopped
# when the answer has ended, until long after the limit.
verifier stops.sh <<E
#!/bin/sh
"\$BAILIFF_ANSWER" -t $(t 0.8) -- sh -c 'sleep $(t 0.3); exit 7' >out 2>err \\
    </dev/null &
wait \$!
printf '{"score": 0, "passed": false, "details": "%s"}\n' \$?
E
for whom in client helper; do
	"$B" run --judge "$work/v/stops.sh" --answer "$work/a/late.py" --json \
	    >"$work/out" 2>"$work/err" &
	pid=$!
	sleep "$(t 0.15)"
	who=$pid
	[ $whom = helper ] && who=$(pgrep -P $pid | head -n 1)
	if [ -z "$who" ] || ! kill -STOP "$who" 2>/dev/null; then
		skip "a $whom that is stopped while the limit passes" \
		    "its caller can't"
		wait $pid
		continue
	fi
	sleep "$(t 1.2)"
	kill -CONT "$who"
	wait $pid
	st=$?
	is "$st $(facts limit exit_code)" "1 None 7" \
	    "a $whom that is stopped while the limit passes"
	[ "$(ask 'd["wall_ms"]')" -gt $((1000 * slow)) ]
	ok $? "control: the delay was there ($(ask 'd["wall_ms"]') ms)"
done

# Calls: the end of each that came first.
printf 'import time\ndef add(a, b):\n\ttime.sleep(%s)\n\treturn a + b\n' \
    "$(t 0.25)" | answer calls.py
run "$usual" calls.py -t "$(t 0.6)"
gives "$full" "three calls, each within its limit, and all of them beyond it"
printf 'import time\ndef add(a, b):\n\tif a == 2: time.sleep(%s)\n\treturn a + b\n' \
    "$(t 0.9)" | answer calls.py
run "$usual" calls.py -t "$(t 0.6)"
gives "$zero" "a call beyond its limit"
is "$(ask 'd["details"]')" "AnswerTimeout" "and only that one failed"
# The judge's end, just before its own deadline.
printf '#!/bin/sh\nsleep %s\necho %s\n' "$(t 1.7)" "'{\"score\": 1, \"passed\": true}'" |
    verifier edge.sh
run edge.sh late.py --judge-timeout $((2 * slow))
gives "0 passed 1.0 False" "a judge just before its deadline"
printf '#!/bin/sh\necho %s\nsleep %s\n' "'{\"score\": 1, \"passed\": true}'" \
    "$(t 2.4)" | verifier edge.sh
run edge.sh late.py --judge-timeout $((2 * slow))
none judge_timeout "a judge just after it"
done_testing
