#!/bin/bash
# bailiff run, whole: every example with every answer, judges that fail in
# every way, answers that end in every way, and runs that are cut short.
set -u

B=$(realpath "${BUILD:-build/release}")/bailiff
top=$PWD
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset DAYTONA_API_KEY
export XDG_CONFIG_HOME=$work/none
n=0

if ! "$B" exec -- /bin/true 2>"$work/why"; then
	echo "1..0 # SKIP no cells here: $(head -n 1 "$work/why")"
	exit 0
fi

ok() {		# STATUS NAME
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		[ -s "$work/out" ] && head -c 2000 "$work/out" | sed 's/^/# /'
		[ -s "$work/err" ] && sed 's/^/# /' "$work/err"
	fi
}

is() {		# GOT WANT NAME
	local good=1
	[ "$1" = "$2" ] && good=0
	ok $good "$3"
	[ $good = 0 ] || printf '# got  %s\n# want %s\n' "$1" "$2"
}

skip() {	# REASON NAME
	n=$((n + 1))
	echo "ok $n - $2 # SKIP $1"
}

# The last result, asked by a Python expression over d.
ask() {
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1], encoding="utf-8"))
print(eval(sys.argv[2]))' "$work/out" "$1" 2>&1
}

run() {		# options: the result in out, the status in st
	"$B" run "$@" --json >"$work/out" 2>"$work/err"
	st=$?
}

# A verifier from stdin, judging the answer at $answer; options follow.
judge() {
	{ echo '#!/bin/sh'; cat; } >"$work/verifier"
	run --judge "$work/verifier" --answer "$answer" "$@"
}

# What none has to look like.
none() {	# KIND REASON NAME
	is "$st $(ask '[d["verdict"], d["failure_kind"], d["failure_reason"],
	    d["mask_sample"], "score" in d, "passed" in d]')" \
	    "3 ['none', '$1', '$2', True, False, False]" "$3"
}

answer=$work/answer.sh
echo 'echo hello' >"$answer"
pass='{"score": 1, "passed": true}'

# --- examples ---------------------------------------------------------------

for env in examples/*/; do
	for a in "$env"answers/*; do
		name=${a##*/}
		run "$env" --answer "$a"
		case $name in
		right*)	want='0 passed True False' ;;
		*)	want='1 failed False False' ;;
		esac
		is "$st $(ask '"%s %s %s" % (d["verdict"], d["passed"],
		    d["mask_sample"])')" "$want" "$env: $name"
		case $name in
		crash*|hostile*)
			is "$(ask 'd["score"]')" 0.0 "$env: $name: score" ;;
		esac
	done
	run "$env" --answer "$env"reference_solution.py
	is $st 0 "$env: its reference"
done
tour=examples/two_sum/answers/hostile_tour.py
(cd "$work" && python3 -c 'import sys; sys.path.insert(0, sys.argv[1])
import hostile_tour
hostile_tour.tour()' "$top/${tour%/*}") 2>"$work/control" </dev/null
[ "$(grep -c ^ALLOWED "$work/control")" -ge 4 ]
ok $? "control: outside of a cell the tour finds open ways"
BUILD=${B%/bailiff} examples/demo.sh >"$work/out" 2>"$work/err"
ok $? "the demo"

# --- the object -------------------------------------------------------------

run examples/contest --answer examples/contest/answers/right_linear.py
is "$(ask 'sorted(d)')" "['answers', 'answers_omitted', 'cases', 'details', \
'error_type', 'image', 'judge', 'mask_sample', 'metrics', 'mode', 'passed', \
'protections', 'reward_components', 'sandbox_id', 'schema', 'score', 'seed', \
'separation', 'truncated', 'verdict', 'wall_ms', 'warnings']" "its members"
is "$(ask '[d["separation"], d["mode"], len(d["answers"]),
    all(d["protections"][k] for k in
    ("uid", "net", "mount", "pid", "ipc", "seccomp"))]')" \
    "['users+namespaces', 'local', 20, True]" "what was seen of the cells"
is "$(ask 'sorted(d["answers"][0])')" "['argv', 'cpu_ms', 'exit_code', \
'limit', 'memory_peak_bytes', 'signal', 'stderr', 'stderr_bytes', \
'stderr_truncated', 'stdout', 'stdout_bytes', 'stdout_truncated', 'wall_ms']" \
    "an answer's members"
is "$(ask '[d["answers"][0][k] for k in ("argv", "exit_code", "stdout",
    "stdout_bytes")]')" "[['python3', 'solution.py'], 0, '5\n', 2]" \
    "an answer's facts"
is "$(wc -l <"$work/out")" 1 "one line"
run examples/contest --answer examples/contest/answers/wrong_total.py \
    --exit-zero
is "$st $(ask 'd["passed"]')" "0 False" "--exit-zero"
judge <<END
echo '{"score": 0.5, "passed": false, "details": {"a": 1}, "seed": 7,
  "x": 1}' | tr -d '\n'
END
is "$(ask '[d["details"], d["seed"], d["cases"], d["error_type"]]')" \
    "['{\"a\":1}', 7, [], None]" "details of another type become text"
judge <<END
echo '{"score": 0, "passed": false, "cases": [{"passed": true},
  {"passed": false}, {"passed": true, "score": 0.25}, 3]}' | tr -d '\n'
END
is "$(ask '[c["score"] for c in d["cases"]]')" "[1.0, 0.0, 0.25]" \
    "a case without a score"

# --- judges that fail -------------------------------------------------------

bad() {		# REASON NAME: the verifier from stdin
	judge --judge-timeout 3
	none judge "$1" "judge: $2"
}
bad judge_no_output "says nothing" <<'END'
exit 0
END
bad judge_no_output "says blanks" <<'END'
printf '\n \n\t\r\n'
END
bad judge_exit_status "status 3 after a verdict" <<END
echo '$pass'; exit 3
END
bad judge_failed "status 2 after a verdict" <<END
echo '$pass'; exit 2
END
bad judge_status_mismatch "status 1 and passed" <<END
echo '$pass'; exit 1
END
bad judge_signal "signal 9 after a verdict" <<END
echo '$pass'; kill -9 \$\$
END
bad judge_signal "signal 11" <<END
echo '$pass'; kill -11 \$\$
END
bad judge_timeout "hangs" <<END
echo '$pass'; sleep 100
END
bad judge_two_objects "two objects" <<END
echo '$pass$pass'
END
bad judge_text_after "text after it" <<END
echo '$pass and so on'
END
bad judge_last_line_not_json "text on a line after it" <<END
echo '$pass'; echo done
END
bad judge_not_finite NaN <<'END'
echo '{"score": NaN, "passed": true}'
END
bad judge_not_finite 1e999 <<'END'
echo '{"score": 1e999, "passed": true}'
END
bad judge_score_type '"1"' <<'END'
echo '{"score": "1", "passed": true}'
END
bad judge_score_type true <<'END'
echo '{"score": true, "passed": true}'
END
bad judge_score_range 1.5 <<'END'
echo '{"score": 1.5, "passed": true}'
END
bad judge_score_range -0.1 <<'END'
echo '{"score": -0.1, "passed": true}'
END
bad judge_score_missing "no score" <<'END'
echo '{"passed": true}'
END
bad judge_passed_missing "no passed" <<'END'
echo '{"score": 1}'
END
bad judge_passed_type "passed is 1" <<'END'
echo '{"score": 1, "passed": 1}'
END
bad judge_duplicate_key "two scores" <<'END'
echo '{"score": 1, "passed": true, "score": 1}'
END
bad judge_not_object "a list" <<END
echo '[$pass]'
END
bad judge_last_line_not_json "pretty-printed" <<'END'
printf '{\n "score": 1,\n "passed": true\n}\n'
END
bad judge_not_utf8 "not UTF-8" <<'END'
printf '{"score": 1, "passed": true, "d": "\377"}\n'
END
bad judge_nul_byte "a NUL" <<'END'
printf '{"score": 1, "passed": true}\0\n'
END
bad judge_line_too_long "a line of 64 MiB" <<'END'
head -c 67108864 /dev/zero | tr '\0' x
END
printf '#!/no/such/program\n' >"$work/verifier"
run --judge "$work/verifier" --answer "$answer"
none judge judge_not_started "judge: no interpreter"

# --- judges that do not -----------------------------------------------------

good() {	# NAME: the verifier from stdin
	judge --judge-timeout 20
	is "$st $(ask '[d["verdict"], d["score"]]')" "0 ['passed', 1.0]" "$1"
}
good "64 MiB of chatter before it" <<END
head -c 67108864 /dev/zero | tr '\0' '\n'; echo '$pass'
END
good "a descriptor for the verdict" <<END
echo '{"score": 0, "passed": false}'; echo '$pass' >&\$BAILIFF_RESULT_FD
END
good "a last line without its end" <<END
echo '{"score": 0, "passed": false}'; printf '%s' '$pass'
END
good "a process that the judge leaves behind" <<END
sleep 100 & echo '$pass'
END
good "the role's surroundings" <<END
set -e
[ "\$(id -un)" = judge ]; [ "\$HOME" = /home/judge ]; [ "\$PWD" = /work ]
[ "\$1" = solution.sh ]; [ "\$(cat solution.sh)" = 'echo hello' ]
[ -z "\${XDG_CONFIG_HOME-}" ]; echo '$pass'
END
bad judge_last_line_not_json "a descriptor for a verdict that is none" <<END
echo oops >&3; echo '$pass'
END

# --- answers: facts, never the end of the run --------------------------------

# The judge says how the answer ended, and gives 1 where it is as expected.
fact() {	# STATUS NAME: the answer from stdin
	cat >"$work/answer.sh"
	judge "${@:3}" <<END
"\$BAILIFF_ANSWER" -t 1 -- sh solution.sh >out 2>err </dev/null
st=\$?
if [ \$st = $1 ]; then
	echo '$pass'
else
	echo '{"score": 0, "passed": false, "details": "status '\$st'"}'
fi
END
	is "$st $(ask '[d["verdict"], d.get("score")]')" "0 ['passed', 1.0]" \
	    "answer: $2"
}
facts() {	# EXPRESSION WANT NAME: of the last answer
	is "$(ask "[d['answers'][0][k] for k in ($1,)]")" "$2" "answer: $3"
}
fact 0 "ends well" <<'END'
echo hello
END
facts '"stdout", "stdout_bytes", "argv"' \
    "['hello\n', 6, ['sh', 'solution.sh']]" "its words"
fact 137 "kills itself" <<'END'
kill -9 $$
END
facts '"signal", "exit_code", "limit"' "[9, None, None]" "signal 9"
fact 137 "exit 137" <<'END'
exit 137
END
facts '"signal", "exit_code", "limit"' "[None, 137, None]" "exit 137"
fact 125 "exit 125" <<'END'
exit 125
END
fact 1 "says that it timed out" <<'END'
echo 'timed out: out of memory' >&2; exit 1
END
fact 2 "has a syntax error" <<'END'
if then
END
fact 0 "is empty" </dev/null
fact 124 "sleeps" <<'END'
sleep 100
END
facts '"signal", "limit"' "[9, 'time']" "limit time"
fact 124 "stops itself" <<'END'
kill -STOP $$
END
facts '"limit"' "['time']" "limit time, stopped"
fact 124 "stops everything it can" <<'END'
kill -STOP -1; sleep 100
END
fact 0 "leaves a process with its streams behind" <<'END'
sleep 100 &
END
fact 137 "floods its output" <<'END'
exec yes
END
facts '"limit", "stdout_bytes"' "['output', 1048576]" "limit output"
fact 137 "floods its errors" <<'END'
exec yes >&2
END
fact 0 "writes to names of results" <<END
for f in result.json ../result.json /tmp/result.json reward.txt; do
	echo '$pass' >\$f
done 2>/dev/null
exit 0
END
fact 0 "odd bytes" <<'END'
printf '\000\377\376\355\240\200'
END
facts '"stdout_b64", "stdout_bytes"' "['AP/+7aCA', 6]" "odd bytes, exactly"

answer=$work/answer.sh
started() {	# STATUS LIMIT NAME COMMAND...
	judge <<END
"\$BAILIFF_ANSWER" -- ${*:4}
[ \$? = $1 ] && echo '$pass'
END
	is "$st $(ask '[d["answers"][0]["limit"]]')" "0 [$2]" "answer: $3"
}
started 127 "'start'" "no such program" /no/such/program
started 127 "'start'" "no such word" nosuchword
started 126 "'start'" "not executable" ./solution.sh
printf '#!/no/such/interpreter\n' >"$answer"
judge <<END
cp solution.sh /tmp/x 2>/dev/null
"\$BAILIFF_ANSWER" -- sh -c 'cp solution.sh x && chmod 755 x && exec ./x'
echo '$pass'
END
is "$st $(ask 'd["answers"][0]["exit_code"]')" "0 127" \
    "answer: an interpreter that is not there"

echo "echo '$pass'; exit 0" >"$answer"
judge <<'END'
"$BAILIFF_ANSWER" -- sh solution.sh
END
none judge judge_no_output "an answer that inherits the verdict's stream"
is "$(ask '[len(d["warnings"]), d["answers"][0]["stdout_bytes"]]')" \
    "[1, 29]" "a warning, and its output in its place"
judge <<'END'
"$BAILIFF_ANSWER" -- sh solution.sh >&3
END
none judge judge_no_output "an answer that inherits the result descriptor"

echo 'cat' >"$answer"
judge --max-output 4m <<END
head -c 3000000 /dev/urandom >big
"\$BAILIFF_ANSWER" -- sh solution.sh <big >back && cmp big back &&
    cat big | "\$BAILIFF_ANSWER" -- sh solution.sh | cmp - big &&
    echo '$pass'
END
is $st 0 "3 MB there and back, from a file and from a pipe"
judge <<END
"\$BAILIFF_ANSWER" -- sh solution.sh <&- && : | "\$BAILIFF_ANSWER" -- true &&
"\$BAILIFF_ANSWER" -- echo hi >&- && "\$BAILIFF_ANSWER" -- true 0<&- 1<&- 2<&- &&
yes | "\$BAILIFF_ANSWER" -- true && "\$BAILIFF_ANSWER" -- yes | head -n 1 &&
echo '$pass'
END
is $st 0 "streams that are closed, on each side"
judge <<END
i=0
while [ \$i -lt 100 ]; do
	"\$BAILIFF_ANSWER" -- sh -c "echo \$i" >o.\$i &
	i=\$((i + 1))
done
wait
[ "\$(cat o.* | sort -n | tail -n 1)" = 99 ] && [ "\$(cat o.* | wc -l)" = 100 ] &&
    echo '$pass'
END
is "$st $(ask 'len(d["answers"])')" "0 100" "100 answers asked for at once"
judge <<END
i=0
while [ \$i -lt 1010 ]; do
	"\$BAILIFF_ANSWER" -- true; i=\$((i + 1))
done
echo '$pass'
END
is "$st $(ask '[len(d["answers"]), d["answers_omitted"]]')" "0 [1000, 10]" \
    "more answers than a result tells"
judge -e A=1 <<END
export BAILIFF_FACT_FD=5
"\$BAILIFF_ANSWER" -- sh -c 'printf "a\\377\n\"\$A"; exit 3' 5>fact
cat fact >&2
echo '$pass'
END
is "$(ask '[json.loads(d["judge"]["stderr"])[k] for k in ("exit_code",
    "signal", "limit", "stdout", "stdout_b64")] + [
    json.loads(d["judge"]["stderr"])["argv"] == d["answers"][0]["argv"]]')" \
    "[3, None, None, 'a\\\\xff\n\"1', 'Yf8KIjE=', True]" \
    "the fact on a descriptor"
judge <<END
"\$BAILIFF_ANSWER" -m 64m -- python3 -c 'x = bytearray(200 << 20)' &&
    exit 0
"\$BAILIFF_ANSWER" -- python3 -c 'x = bytearray(200 << 20)' && echo '$pass'
END
is $st 0 "-m for one run"

# A judge that lies on its own socket spoils nothing but its own notes.
cat >"$work/liar.py" <<'END'
import glob, json, os, socket, struct, subprocess
def dial():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(1)
    s.connect("/run/bailiff/run.sock")
    return s
def note(flags=0, spawn=77, argc=0, nargv=0, out=0, err=0, magic=0x65746f6e):
    return struct.pack("<IIIIQQIIII", magic, 1, spawn, flags, out, err, argc,
                       nargv, out, err)
if __name__ == "__main__":
    for first in (b"x", b"x" * 48, b"x" * 100000, note(magic=1),
                  note(flags=64), note(nargv=1 << 31), note(out=1 << 31),
                  note(argc=5), note(argc=1, nargv=2) , note()):
        s = dial()
        s.send(first)
        try:
            s.send(b"ab")
            s.send(b"c" * 40000)
        except OSError:
            pass
    held = []
    for i in range(300):
        try:
            held.append(dial())
        except OSError:
            break
    held.clear()
    run = subprocess.run([os.environ["BAILIFF_ANSWER"], "--", "echo", "hi"],
                         stdout=subprocess.PIPE, check=False)
    print(json.dumps({"score": 1, "passed": run.stdout == b"hi\n"}))
END
run --judge "$work/liar.py" --answer "$answer" --judge-timeout 20
is "$st $(ask '[[a["argv"], a["stdout"]] for a in d["answers"]]')" \
    "0 [[['echo', 'hi'], 'hi\n']]" "a judge that lies on its socket"

# --- folders that both cells see ---------------------------------------------

if tools=$(mktemp -d /opt/bailiff-run-XXXXXX 2>/dev/null); then
	chmod 755 "$tools"
	mkdir "$tools/bin"
	printf '#!/bin/sh\necho exposed\n' >"$tools/bin/tool"
	chmod 755 "$tools/bin" "$tools/bin/tool"
	judge --expose "$tools" <<END
[ "\$(tool)" = exposed ] && [ "\$("\$BAILIFF_ANSWER" -- tool)" = exposed ] &&
    echo '$pass'
END
	is $st 0 "--expose: its programs are there for both"
	judge --ro-bind "$tools:/srv/x" <<END
! (echo >/srv/x/new) 2>/dev/null && /srv/x/bin/tool &&
    "\$BAILIFF_ANSWER" -- /srv/x/bin/tool >/dev/null && echo '$pass'
END
	is $st 0 "--ro-bind: another place, and read-only"
	rm -rf "$tools"
else
	skip "no folder in /opt" "--expose"
	skip "no folder in /opt" "--ro-bind"
fi

# --- time -------------------------------------------------------------------

judge --judge-timeout 4 -t 100 <<'END'
"$BAILIFF_ANSWER" -- sleep 100
[ $? = 124 ] || exit 2
"$BAILIFF_ANSWER" -- true
[ $? = 124 ] && echo '{"score": 0, "passed": false}'
END
is "$st $(ask '[[a["limit"] for a in d["answers"]],
    2500 < d["judge"]["wall_ms"] < 4000]')" "1 [['time', 'time'], True]" \
    "the answers' time ends before the judge's"

# --- environments -----------------------------------------------------------

mkdir -p "$work/env/data" "$work/.hidden"
echo task >"$work/env/task.md"
cat >"$work/env/verifier" <<END
#!/bin/sh
[ "\$2" = test_cases.json ] && [ -f data/x ] && [ "\$FROM_META" = yes ] &&
    [ ! -e answers ] && [ "\$("\$BAILIFF_ANSWER" -- sh -c 'ls; env')" != "" ] &&
    echo '$pass'
END
echo '[]' >"$work/env/test_cases.json"
echo '{"env_vars": {"FROM_META": "yes"}, "timeout": 5, "other": 1}' \
    >"$work/env/metadata.json"
echo x >"$work/env/data/x"
mkdir "$work/env/answers"
run "$work/env" --answer "$answer"
is $st 0 "a folder with a program as its verifier"
is "$(ask '"FROM_META" in d["answers"][0]["stdout"]')" False \
    "its variables are the judge's alone"
ln -s /etc/passwd "$work/env/data/link"
run "$work/env" --answer "$answer"
is "$st $(ask 'd["failure_reason"]')" "77 unsafe_path" \
    "a link that leaves the folder"
rm "$work/env/data/link"
echo '{"id": 1}' >"$work/env/metadata.json"
run "$work/env" --answer "$answer"
is "$st $(ask '[d["failure_kind"], d["failure_reason"]]')" \
    "3 ['setup', 'metadata_type']" "metadata of a wrong type"
echo 'return True' >"$work/body.py"
run --judge "$work/body.py" --answer "$answer"
is "$st $(ask 'd["failure_reason"]')" "77 verifier_body" "a function body"
run "$work/nowhere" --answer "$answer"
is "$st $(ask 'd["failure_kind"]')" "3 setup" "no such folder"
run examples/contest --answer "$work"
is "$st $(ask 'd["failure_reason"]')" "77 answer_folder" "a folder as answer"
for words in "" "examples/contest" "--answer $answer" "a b --answer $answer" \
    "examples/contest --answer $answer --no-such" \
    "examples/contest --answer $answer --judge x" \
    "examples/contest --answer $answer --judge-timeout 0"; do
	# shellcheck disable=SC2086
	run $words
	is "$st $(wc -c <"$work/out")" "64 0" "usage: ${words%%/*}"
done

# --- no room to tell ---------------------------------------------------------

for how in --json ""; do
	# shellcheck disable=SC2086
	"$B" run examples/contest $how \
	    --answer examples/contest/answers/right_linear.py \
	    >/dev/full 2>"$work/err"
	is $? 3 "a full device for the result ${how:-in words}"
	# shellcheck disable=SC2086
	("$B" run examples/contest $how \
	    --answer examples/contest/answers/right_linear.py 2>"$work/err"
	echo $? >"$work/st") | :
	is "$(cat "$work/st")" 3 "a closed pipe for the result ${how:-in words}"
done

# --- cut short ---------------------------------------------------------------

mark="sleep $((100000 + $$))"	# no other test's
echo "exec $mark" >"$answer"
left() {
	pgrep -fx "$mark" >/dev/null
}
cut() {		# SIGNAL WHOM: during a run, with the result to out
	printf '#!/bin/sh\n"$BAILIFF_ANSWER" -- sh solution.sh\n' \
	    >"$work/verifier"
	"$B" run --judge "$work/verifier" --answer "$answer" -t 900 --json \
	    >"$work/out" 2>"$work/err" &
	local pid=$! helper
	for _ in $(seq 100); do
		left && break
		sleep 0.05
	done
	helper=$(pgrep -P $pid | head -n 1)
	case $2 in
	client)	kill "-$1" $pid ;;
	helper)	kill "-$1" "$helper" ;;
	judge)	kill "-$1" "$(pgrep -P "$helper" | head -n 1)" ;;
	answer)	kill "-$1" "$(pgrep -P "$helper" | tail -n 1)" ;;
	esac
	wait $pid 2>/dev/null
	st=$?
	for _ in $(seq 40); do
		left || break
		sleep 0.05
	done
	! left
	ok $? "$1 to the $2: nothing is left"
}
for whom in helper judge answer; do
	if [ "$(id -u)" != 0 ]; then
		skip "its caller can't" "the $whom is killed"
		continue
	fi
	cut KILL $whom
	none infrastructure cell_gone "the $whom is killed"
done
cut TERM client
is "$st $(ask '[d["failure_kind"], "score" in d]')" "130 ['cancelled', False]" \
    "the client is told to stop"
cut KILL client
is "$st $(wc -c <"$work/out")" "137 0" "the client is killed: no document"

echo "1..$n"
