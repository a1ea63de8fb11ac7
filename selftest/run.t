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

# examples/expected.tsv: folder, answer, verdict, score to four places, ...
expected() {	# FOLDER ANSWER: "STATUS VERDICT SCORE", or nothing
	awk -F '\t' -v e="$1" -v a="$2" '$1 == e && $2 == a {
		print ($3 == "passed" ? 0 : 1), $3, $4; exit }' \
	    examples/expected.tsv 2>/dev/null
}
for env in examples/*/; do
	for a in "$env"answers/*; do
		name=${a##*/}
		run "$env" --answer "$a"
		want=$(expected "$(basename "$env")" "$name")
		if [ -n "$want" ]; then
			is "$st $(ask '"%s %.4g" % (d["verdict"],
			    d.get("score", -1))')" "$want" "$env: $name"
			continue
		fi
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
	for a in "$env"reference_solution*; do
		run "$env" --answer "$a"
		is $st 0 "$env: its reference"
	done
done
tour=examples/two_sum/answers/hostile_tour.py
(cd "$work" && python3 -c 'import sys; sys.path.insert(0, sys.argv[1])
import hostile_tour
hostile_tour.tour()' "$top/${tour%/*}") 2>"$work/control" </dev/null
[ "$(grep -c ^ALLOWED "$work/control")" -ge 4 ]
ok $? "control: outside of a cell the tour finds open ways"
BUILD=${B%/bailiff} examples/demo.sh >"$work/out" 2>"$work/err"
ok $? "the demo"
cp -r examples "$work/doc"
env -u BUILD PATH="${B%/*}:$PATH" "$work/doc/demo.sh" >"$work/out" 2>"$work/err"
ok $? "the demo of a package, by the bailiff in PATH"
rm -r "$work/doc"

# --- the object -------------------------------------------------------------

run examples/contest --answer examples/contest/answers/right_linear.py
is "$(ask 'sorted(d)')" "['answers', 'answers_omitted', 'cases', 'details', \
'error_type', 'image', 'judge', 'mask_sample', 'metrics', 'mode', 'passed', \
'protections', 'reward_components', 'sandbox_id', 'schema', 'score', 'seed', \
'separation', 'truncated', 'verdict', 'wall_ms', 'warnings', 'way']" \
    "its members"
is "$(ask '[d["separation"], d["mode"], len(d["answers"]),
    all(d["protections"][k] for k in
    ("uid", "net", "mount", "pid", "ipc", "seccomp"))]')" \
    "['users+namespaces', 'local', 20, True]" "what was seen of the cells"
is "$(ask 'sorted(d["answers"][0])')" "['argv', 'cpu_ms', 'evidence', \
'exit_code', 'limit', 'memory_peak_bytes', 'signal', 'stderr', 'stderr_bytes', \
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

mkdir -p "$work/named/bare" && echo task >"$work/named/task.md" &&
    ln -s /etc "$work/named/x" && cp examples/sum/verifier "$work/named"
for what in "bare task.md: is missing: this is no environment" \
    "named x: is a link that leaves the environment"; do
	dir=$work/named
	[ "${what%% *}" = named ] || dir=$dir/bare
	"$B" run "$dir" --answer "$answer" --status-fd 3 3>"$work/out" \
	    >"$work/err" 2>&1
	is "$(sed 's/^[^:]*: //;q' "$work/err")
$(ask 'd["failure_detail"]')" "${what#* }
${what#* }" "what it is about is named once: ${what#* }"
done
mkdir -p "$work/config/bailiff"
echo 'workdir = /tmp' >"$work/config/bailiff/config"
(XDG_CONFIG_HOME=$work/config
run examples/sum --answer examples/sum/answers/right.py
"$B" exec -- pwd; exit $st) >"$work/pwd"
is "$? $(cat "$work/pwd")" "0 /tmp" "exec's defaults are none of run's"
run examples/sum --answer examples/sum/answers/right.py -w /tmp
is $st 64 "and an option of exec's is not taken"

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

# --- what a judge shows of an answer decides on no verdict -------------------

shows() {	# NAME PYTHON: an expression with what was got
	{ echo '#!/usr/bin/env python3'; echo "import json"
	echo "print(json.dumps({'score': 1, 'passed': True, 'cases': ["
	echo "    {'passed': True, 'got': $2}]}))"; } >"$work/shows"
	run --judge "$work/shows" --answer "$answer"
	is "$st $(ask '[d["verdict"], d["score"]]')" "0 ['passed', 1.0]" \
	    "shown: $1"
}
shows "a key twice" '{1: 0, "1": 2}'
is "$(ask 'd["cases"][0]["got"]')" "{'1': 2}" "shown: the last one counts"
shows "what is not finite" '[float("nan"), float("-inf"), "NaN"]'
is "$(ask 'd["cases"][0]["got"]')" "[None, None, 'NaN']" "shown: as null"
shows "300,000 characters" '"x" * 300000'
is "$(ask 'len(d["cases"][0]["got"])')" 300000 "shown: all of them"
shows "almost 32 MiB" '"x" * 33554000'

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
cp "$answer" "$work/env/answers/a.py"
run "$work/env" --answer "$work/env/answers/a.py"
is $st 0 "a folder with a program as its verifier, without answers/"
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
run "$work/nowhere" --answer "$answer"
is "$st $(ask 'd["failure_kind"]')" "3 setup" "no such folder"
for words in "" "examples/contest" "--answer $answer" "a b --answer $answer" \
    "examples/contest --answer $answer --no-such" \
    "examples/contest --answer $answer --judge x" \
    "examples/contest --answer $answer --judge-timeout 0"; do
	# shellcheck disable=SC2086
	run $words
	is "$st $(wc -c <"$work/out")" "64 0" "usage: ${words%%/*}"
done

# --- tasks of other kinds ------------------------------------------------------

kind() {	# METADATA MODE
	echo "$1" >"$work/env/metadata.json"
	run "$work/env" --answer "$answer"
	is "$st $(ask '[d["failure_reason"], "use --mode '"$2"'" in
	    d["failure_detail"]]')" "77 ['task_kind', True]" "a task for $2: $1"
}
kind '{"type": "computer-use"}' daytona
kind '{"type": "repo-patch"}' docker
kind '{"type": "cybergym"}' docker
kind '{"benchmark": "CyberGym", "type": "coding"}' docker
mv "$work/env/task.md" "$work/env/moved.md"
kind '{"type": "cybergym", "id": "no task.md"}' docker
mv "$work/env/moved.md" "$work/env/task.md"
mkdir "$work/harbor"
echo 'version = "1.0"' >"$work/harbor/task.toml"
run "$work/harbor" --answer "$answer"
is "$st $(ask '[d["failure_reason"], "docker" in d["failure_detail"]]')" \
    "77 ['task_kind', True]" "a Harbor task"
echo '{"benchmark": ["cybergym"], "env_vars": {"FROM_META": "yes"}}' \
    >"$work/env/metadata.json"
run "$work/env" --answer "$work/env/answers/a.py"
is $st 0 "control: a key of another type is nobody's"
run "$work/env" --answer "$answer"
is "$st $(ask 'd["failure_reason"]')" "3 judge_no_output" \
    "but for an answer from elsewhere a folder answers/ is the judge's"

# --- fresh cells ---------------------------------------------------------------

echo 'echo hello' >"$answer"
judge <<END
first=\$("\$BAILIFF_ANSWER" -- sh -c 'echo x >mine; id -u')
fresh=\$("\$BAILIFF_ANSWER" --fresh -- sh -c 'ls; id -u' | tr '\n' ' ')
other=\$("\$BAILIFF_ANSWER" -t 5 -m 64m --fresh -- id -u)
again=\$("\$BAILIFF_ANSWER" -- cat mine)
echo "\$first \$fresh \$other \$again" >&2
[ "\$fresh" != "\$first" ] && [ "\$other" != "\$first" ] && [ "\$again" = x ] &&
    [ "\${fresh% * }" = solution.sh ] && echo '$pass'
END
is "$st $(ask 'd["separation"]')" "0 users+namespaces" \
    "--fresh: another user, the same files, nothing of other runs"
is "$(ask '[a["argv"][0] + " " + str(a["stdout_bytes"] > 0) for a in
    d["answers"]]')" "['sh True', 'sh True', 'id True', 'cat True']" \
    "--fresh: each run is told, though their cells count alike"
judge <<END
"\$BAILIFF_ANSWER" --fresh -- sh -c 'kill -9 \$\$' ; a=\$?
"\$BAILIFF_ANSWER" --fresh -t 0.2 -- sleep 100 ; b=\$?
"\$BAILIFF_ANSWER" --fresh -- /no/such ; c=\$?
"\$BAILIFF_ANSWER" --fresh -- sh -c 'exit 7' ; d=\$?
[ "\$a \$b \$c \$d" = "137 124 127 7" ] && echo '$pass'
END
is "$st $(ask '[[a["signal"], a["limit"], a["exit_code"]] for a in
    d["answers"]]')" "0 [[9, None, None], [9, 'time', None], \
[None, 'start', None], [None, None, 7]]" "--fresh: how runs end"
judge <<END
i=0
while [ \$i -lt 40 ]; do
	"\$BAILIFF_ANSWER" --fresh -- sh -c "id -u; sleep 0.3" >o.\$i &
	i=\$((i + 1))
done
wait
[ "\$(sort -u o.* | wc -l)" -gt 20 ] && [ "\$(cat o.* | wc -l)" = 40 ] &&
    echo '$pass'
END
is "$st $(ask 'len(d["answers"])')" "0 40" "40 fresh cells at once"
judge <<END
i=0
while [ \$i -lt 150 ]; do
	"\$BAILIFF_ANSWER" --fresh -- echo hi >o.\$i &
	i=\$((i + 1))
done
wait
[ "\$(cat o.* | wc -l)" = 150 ] && echo '$pass'
END
is "$st $(ask 'len(d["answers"])')" "0 150" "150 asked for at once"
mark="sleep $((200000 + $$))"	# no other test's
judge <<END
"\$BAILIFF_ANSWER" --fresh -- $mark &
pid=\$!
sleep 0.3
kill -9 \$pid
wait
sleep 0.3
"\$BAILIFF_ANSWER" --fresh -- true && echo '$pass'
END
is "$st $(ask '[[a["signal"], a["exit_code"]] for a in d["answers"]]')" \
    "0 [[9, None], [None, 0]]" "--fresh: its asker is killed"
! pgrep -fx "$mark" >/dev/null
ok $? "and its cell is gone"
judge --judge-timeout 4 <<'END'
"$BAILIFF_ANSWER" --fresh -- sleep 100
[ $? = 124 ] || exit 2
"$BAILIFF_ANSWER" --fresh -- true
[ $? = 124 ] && echo '{"score": 0, "passed": false}'
END
is "$st $(ask '[a["limit"] for a in d["answers"]]')" "1 ['time', 'time']" \
    "--fresh: the answers' time is over"
judge <<END
"\$BAILIFF_ANSWER" --fresh -- sh solution.sh
END
none judge judge_no_output "--fresh: an answer that inherits the verdict's stream"

# A judge that takes all there can be, and what it does with them.
cat >"$work/hold" <<'END'
#!/usr/bin/python3
import json, os, socket, struct, subprocess
ASK = struct.pack("<IIIIQQIIII", 0x65746f6e, 1, 0, 32, 0, 0, 0, 0, 0, 0)
def ask():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(20)
    s.connect("/run/bailiff/run.sock")
    s.recv(100000)
    s.send(ASK)
    return s
def given(s):
    return socket.recv_fds(s, 100, 4)[1]
held = [ask() for _ in range(200)]
cells = [given(s) for s in held[:126]]
held[126].settimeout(0.3)
try:
    more = given(held[126])
except TimeoutError:
    more = None
os.write(cells[0][0], b"no request")
os.close(cells[1][0])
twice = ask()
twice.send(ASK)
for s in held:
    s.close()
run = subprocess.run([os.environ["BAILIFF_ANSWER"], "--fresh", "--", "echo",
                      "hi"], stdout=subprocess.PIPE)
print(json.dumps({"score": 1, "passed": run.stdout == b"hi\n", "details": str(
    [len(cells), more, sum(map(len, cells))])}))
END
run --judge "$work/hold" --answer "$answer" --judge-timeout 60
is "$st $(ask '[d.get("details"), [a["stdout"] for a in d["answers"]]]')" \
    "0 ['[126, None, 126]', ['hi\n']]" \
    "a judge that holds every cell, and lets them go"

# Few slots: rules of its own, in a mount namespace of its own.
few() {		# SLOTS: runs the verifier at $work/verifier
	mkdir -p "$work/etc"
	cp -a /etc/. "$work/etc/" && mkdir -p "$work/etc/bailiff" &&
	chmod 755 "$work/etc" "$work/etc/bailiff" &&
	sed "s/^caller 0 slots [0-9]*/caller 0 slots $1/; /^caller 1000/d" \
	    policy/default.policy >"$work/policy" &&
	"${B%/*}/bailiff-rules" compile "$work/policy" \
	    -o "$work/etc/bailiff/rules" &&
	unshare -m sh -c 'mount --bind "$1" /etc && mkdir -p /run/bailiff &&
	    mount -t tmpfs -o mode=700 none /run/bailiff && shift && exec "$@"' sh \
	    "$work/etc" "$B" run --judge "$work/verifier" --answer "$answer" \
	    --json >"$work/out" 2>"$work/err"
	st=$?
}
printf '#!/bin/sh\nfor i in 1 2 3 4 5 6; do
	"$BAILIFF_ANSWER" --fresh -- sh -c "echo hi; sleep 0.1" >o.$i &
done
wait
[ "$(cat o.* | wc -l)" = 6 ] && echo '\''%s'\''\n' "$pass" >"$work/verifier"
if [ "$(id -u)" != 0 ] || ! unshare -m true 2>/dev/null; then
	skip "needs root" "a quota of 4: fresh cells take turns"
	skip "needs root" "a quota of 2: no fresh cell, no verdict"
else
	few 4
	is "$st $(ask 'len(d.get("answers"))')" "0 6" \
	    "a quota of 4: fresh cells take turns"
	few 2
	none infrastructure slots_busy "a quota of 2: no fresh cell, no verdict"
fi

# --- channels --------------------------------------------------------------------

cat >"$work/chan" <<'END'
#!/usr/bin/python3
import json, os, subprocess, time
A = os.environ["BAILIFF_ANSWER"]
def pipes():
    return os.pipe(), os.pipe()
def go(script, *options, hold=True, send=b"ping\n"):
    (ri, wi), (ro, wo) = pipes()
    p = subprocess.Popen([A, *options, "--channel", f"{ri},{wo}", "--", "sh",
                          "-c", script], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, pass_fds=(ri, wo))
    os.close(ri)
    os.close(wo)
    os.write(wi, send)
    if not hold:
        time.sleep(0.3)
        p.stdin.close()
    p.wait(20)
    got = os.read(ro, 100)
    os.close(wi)
    os.close(ro)
    return [p.returncode, got.decode(), p.stdout.read().decode()]
def refused(ends, fds=(), word=""):
    r = subprocess.run([A, "--channel", ends, "--", "true"], text=True,
                       stderr=subprocess.PIPE, pass_fds=fds)
    return r.returncode == 125 and word in r.stderr
talk = "read x; echo got $x >&3; echo out; exit 4"
(ri, wi), (ro, wo) = pipes()
file = os.open("file", os.O_RDWR | os.O_CREAT)
both = os.open(f"/proc/self/fd/{ri}", os.O_RDWR)
null = os.open("/dev/null", os.O_RDWR)
os.mkfifo("named")
named = os.open("named", os.O_RDONLY | os.O_NONBLOCK)
got = {
    "talk": go(talk) == [4, "got ping\n", "out\n"],
    "fresh": go(talk, "--fresh") == [4, "got ping\n", "out\n"],
    "descriptors": go("ls /proc/self/fd | tr '\\n' ' '")[2] == "0 1 2 3 4 ",
    "stop": go("sleep 100", hold=False)[0] == 137,
    "stop fresh": go("sleep 100", "--fresh", hold=False)[0] == 137,
    "own time": go("sleep 100", "-t", "0.2")[0] == 124,
    "no other time": go("sleep 1.5; echo on >&3")[1] == "on\n",
    "raw": go("head -c 5 >&3", send=b"a\0\xffb\n"[:2] + b"cd\n")[1] ==
        "a\0cd\n",
    "standard": refused("0,1", word="standard stream"),
    "closed": refused("98,99", word="not open"),
    "not passed on": refused(f"{ri},{wo}", word="not open"),
    "words": refused("a,b") and refused("5") and refused("5,") and
        refused("5,6,7") and refused(""),
    "wrong way": refused(f"{wi},{wo}", (wi, wo), "not the read end") and
        refused(f"{ri},{ro}", (ri, ro), "not the write end"),
    "both ways": refused(f"{both},{wo}", (both, wo), "not the read end"),
    "one pipe": refused(f"{ri},{wi}", (ri, wi), "one pipe"),
    "file": refused(f"{file},{wo}", (file, wo), "no pipe") and
        refused(f"{ri},{file}", (ri, file), "no pipe"),
    "device": refused(f"{ri},{null}", (ri, null), "no pipe"),
    "named": refused(f"{named},{wo}", (named, wo), "no pipe"),
    "verdict": refused(f"{ri},3", (ri, 3), "verdict"),
}
bad = sorted(k for k, v in got.items() if not v)
print(json.dumps({"score": 1.0 - len(bad) / len(got), "passed": not bad,
                  "details": " ".join(bad),
                  "cases": [{"id": k, "passed": v} for k, v in got.items()]}))
END
run --judge "$work/chan" --answer "$answer" -t 1 --judge-timeout 60
is "$st $(ask 'd["details"]')" "0 " "--channel"
for k in $(ask '" ".join(c["id"].replace(" ", "_") for c in d["cases"])'); do
	is "$(ask "[c['passed'] for c in d['cases'] if
	    c['id'] == '${k//_/ }']")" "[True]" "--channel: ${k//_/ }"
done

# --- Python judges -----------------------------------------------------------------

cat >"$work/body.py" <<'END'
import importlib.util
spec = importlib.util.spec_from_file_location("solution", solution_path)
sol = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sol)
good = sum(sol.double_it(n) == 2 * n for n in (0, 3, -4))
return {"score": good / 3, "passed": good == 3, "details": f"{good}/3"}
END
echo 'def double_it(n): return 2 * n' >"$work/double.py"
cat >"$work/where.py" <<'END'
import os
HERE = os.path.exists("/run/bailiff/py/runner.py")
def double_it(n): return 2 * n if HERE else 0
END
run --judge "$work/body.py" --answer "$work/double.py"
is "$st $(ask '[d["details"], len(d["answers"]) > 0]')" "0 ['3/3', True]" \
    "a function body that loads the answer"
run --judge "$work/body.py" --answer "$work/where.py"
is "$st $(ask '[d["details"], d["separation"]]')" \
    "1 ['1/3', 'users+namespaces']" "the answer is loaded in its own cell"
run --judge "$work/body.py" --answer "$work/where.py" --judge-mode shared
is "$st $(ask '[d["details"], d["separation"], d["protections"]["uid"],
    len(d["answers"])]')" "0 ['3/3', 'none', True, 0]" \
    "--judge-mode shared: in the judge's, and the result says so"
judge --judge-mode shared <<END
"\$BAILIFF_ANSWER" -- true && echo '$pass'
END
is "$st $(ask '[d["separation"], len(d["answers"])]')" "0 ['none', 1]" \
    "--judge-mode shared: a judge that is no Python"
run --judge "$work/body.py" --answer "$work/double.py" --judge-mode separate
is "$st $(ask 'd["separation"]')" "0 users+namespaces" "--judge-mode separate"
run --judge "$work/body.py" --answer "$work/double.py" --judge-mode both
is "$st $(wc -c <"$work/out")" "64 0" "usage: --judge-mode both"
cat >"$work/args.py" <<'END'
import json, os, sys
import bailiff
if __name__ == "__main__":
    r = bailiff.run(["sh", "-c", "ls /run/serve; exit 3"])
    print(json.dumps({"score": 0, "passed": False, "details": [
        sys.argv, os.getcwd(), r.returncode,
        r.stdout.split() == [b"bailiff_plain.py", b"serve.py"] or
        r.stdout.split() == ["bailiff_plain.py", "serve.py"]]}))
END
run --judge "$work/args.py" --answer "$work/double.py"
is "$(ask 'json.loads(d["details"])')" "[['verifier.py', 'solution.py'], \
'/work', 3, True]" "a Python judge: its words, its module"
echo 'raise ValueError' >"$work/raise.py"
run --judge "$work/raise.py" --answer "$work/double.py"
none judge judge_failed "a Python judge that raises"
# What the runner says when a verifier would run the answer by itself.
note() {	# FLAGS SPAWN: that note, and then a verdict
	cat >"$work/verifier" <<END
#!/usr/bin/python3
import socket, struct
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect("/run/bailiff/run.sock")
s.recv(100000)
s.send(struct.pack("<IIIIQQIIII", 0x65746f6e, 1, $2, $1, 0, 0, 0, 0, 0, 0))
s.settimeout(3)
print(len(s.recv(10)))
print('$pass')
END
	run --judge "$work/verifier" --answer "$answer"
}
note 16 0
none judge answer_in_judge "a judge that would run the answer by itself"
is "$(ask '[w in d["failure_detail"] for w in ("bailiff.load",
    "--judge-mode shared")]')" "[True, True]" "and what to do about it"
note 16 1
is $st 0 "control: a note that says more than that"
note 48 0
is $st 0 "control: and a fresh cell"

# --- an answer of several files ------------------------------------------------------

d=$work/folder
mkdir -p "$d/sub/.git" "$d/__pycache__" "$d/empty"
echo 'cat "${0%/*}/sub/x"' >"$d/main.sh"
printf '#!/bin/sh\necho program\n' >"$d/program"
chmod 755 "$d/program"
echo x >"$d/sub/x"
echo no >"$d/sub/.git/x"
echo no >"$d/__pycache__/x"
ln -s sub/x "$d/inside"
head -c 3000000 /dev/urandom >"$d/big"
answer=$d/
judge <<END
[ "\$1" = solution ] || exit 2
find solution | sort >here
"\$BAILIFF_ANSWER" -- sh -c 'find solution | sort' >there
"\$BAILIFF_ANSWER" --fresh -- sh -c 'find solution | sort' >fresh
cat here >&2
cmp here there && cmp here fresh &&
    [ "\$("\$BAILIFF_ANSWER" -- md5sum solution/big)" = \
	"\$(md5sum solution/big)" ] &&
    [ "\$("\$BAILIFF_ANSWER" -- sh solution/main.sh)" = x ] &&
    [ "\$("\$BAILIFF_ANSWER" -- solution/program)" = program ] &&
    [ "\$("\$BAILIFF_ANSWER" -- sh -c '[ -L solution/inside ]; echo \$?')" = 1 ] &&
    echo '$pass'
END
is $st 0 "a folder as the answer, the same in every cell"
is "$(ask 'd["judge"]["stderr"].split()')" "['solution', 'solution/big', \
'solution/empty', 'solution/inside', 'solution/main.sh', 'solution/program', \
'solution/sub', 'solution/sub/x']" "without .git and __pycache__"
bad_folder() {	# REASON NAME: what was just made in $d is refused
	judge <<END
echo '$pass'
END
	is "$st $(ask '[d["failure_kind"], d["failure_reason"],
	    "bad" in d["failure_detail"]]')" "77 ['refused', '$1', True]" \
	    "a folder with $2"
	rm -rf "$d/bad"*
}
ln -s /etc/passwd "$d/bad"
bad_folder unsafe_path "a link that leaves"
ln -s ../body.py "$d/bad"
bad_folder unsafe_path "a link above"
ln -s sub "$d/bad"
bad_folder unsafe_path "a link to a folder"
ln -s bad "$d/bad"
bad_folder unsafe_path "a link to itself"
ln -s nowhere "$d/bad"
bad_folder unsafe_path "a link to nothing"
ln -s /proc/self/fd/0 "$d/bad"
bad_folder unsafe_path "a link to a stream"
mkfifo "$d/bad"
bad_folder unsafe_path "a pipe"
python3 -c 'import socket, sys
socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$d/bad"
bad_folder unsafe_path "a socket"
truncate -s 200m "$d/bad"
bad_folder answer_too_large "200 MiB"
mkdir "$d/bad"
(cd "$d/bad" && seq 2100 | xargs touch)
bad_folder answer_too_large "2100 files"
mkdir -p "$d/bad/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18"
bad_folder answer_too_deep "folders 18 deep"
: >"$d/$(printf 'bad\n\033[31m')"
ln -s /etc "$d/$(printf 'bad\nx')"
"$B" run --judge "$work/verifier" --answer "$d" >"$work/out" 2>"$work/err"
is "$? $(wc -l <"$work/out")" "77 1" "a name cannot make a line of its own"
rm -f "$d/bad"*
judge <<END
echo '$pass'
END
is $st 0 "control: the same folder without them"
answer=$work/answer.sh

# --- what an answer leaves -------------------------------------------------------------

cat >"$answer" <<'END'
mkdir -p artifacts/sub artifacts/locked
echo one >artifacts/one
echo two >artifacts/sub/two
echo last >artifacts/z
ln -s /etc/passwd artifacts/link
mkfifo artifacts/pipe
truncate -s 300m artifacts/huge
chmod 777 artifacts/one
chmod 0 artifacts/locked
END
leaves='"$BAILIFF_ANSWER" -- sh solution.sh >/dev/null'
judge --artifacts "$work/art" <<END
$leaves; echo '{"score": 0, "passed": false}'
END
is "$st $(cd "$work/art" && find . -type f | sort | tr '\n' ' ')" \
    "1 ./one ./sub/two ./z " "--artifacts: files, whatever the verdict"
is "$(cat "$work/art/one" "$work/art/sub/two" | tr '\n' ' ')$(cd "$work/art" &&
    stat -c %a one sub sub/two | tr '\n' ' ')" "one two 755 755 644 " \
    "and what they are"
is "$(ask 'sorted(w.split()[1] for w in d["warnings"])')" \
    "['artifacts/huge', 'artifacts/link', 'artifacts/locked', \
'artifacts/pipe']" "what was left out is named"
judge --artifacts "$work/art" <<END
echo '$pass'
END
is "$st $(ask '[d["failure_kind"], d["failure_reason"]]')" \
    "3 ['setup', 'artifacts_not_empty']" "a folder that is not empty"
rm -rf "$work/art"
judge --artifacts "$work/no/such/art" <<END
echo '$pass'
END
is "$st $(ask 'd["failure_reason"]')" "3 artifacts_folder" "nor one in nowhere"
judge --artifacts "$work/art" --judge-timeout 3 <<END
$leaves; sleep 100
END
none judge judge_timeout "a judge that hangs, and what the answer left"
is "$(cat "$work/art/sub/two")" two "is there"
rm -rf "$work/art"
judge <<'END'
"$BAILIFF_ANSWER" -- /work/nothing 2>said
echo "{\"score\": 0, \"passed\": false, \"details\": \"$? $(cat said)\"}"
END
is "$(ask 'd["details"]')" \
    "127 bailiff-answer: /work/nothing: No such file or directory" \
    "what can't be started: BAILIFF_ANSWER says so, and why"
cat >"$work/closes.py" <<'END'
import json, os, subprocess, time
def run(command, **more):
    return subprocess.Popen([os.environ["BAILIFF_ANSWER"], "--", "sh", "-c",
                             command], stdin=subprocess.PIPE, **more)
p = run("exec 2>&-; read x; echo got $x", stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)
at = time.monotonic()
end = p.stderr.read()
took = time.monotonic() - at
out = p.communicate(b"it\n")[0]
print(json.dumps({"score": 1, "passed": end == b"" and took < 3 and
                  out == b"got it\n", "details": f"{took} {out}"}))
END
run --judge "$work/closes.py" --answer "$answer"
is "$(ask 'd["passed"] or d.get("details")')" True \
    "an answer that closes its standard error: whoever reads it sees the end"
judge --artifacts "$work/art" <<END
$leaves; exit 2
END
is "$st $(cat "$work/art/one")" "3 one" "of a run without a verdict, too"
rm -rf "$work/art"
nothing() {	# WARNINGS NAME OPTION...
	judge --artifacts "$work/art" "${@:3}" <<END
echo '$pass'
END
	is "$st $(ask 'len(d["warnings"])') $(find "$work/art" | wc -l)" \
	    "0 $1 1" "$2"
	rm -rf "$work/art"
}
nothing 0 "an answer that leaves nothing"
nothing 1 "and is told so with -v" -v
for what in 'ln -s /etc artifacts' 'echo >artifacts' 'mkfifo artifacts'; do
	echo "$what" >"$answer"
	judge --artifacts "$work/art" <<END
$leaves; echo '$pass'
END
	is "$st $(ask 'len(d["warnings"])') $(find "$work/art" | wc -l)" "0 1 1" \
	    "artifacts that are no folder: $what"
	rm -rf "$work/art"
done
cat >"$answer" <<'END'
mkdir artifacts; echo x >artifacts/x
for i in $(seq 30); do ln -s x artifacts/l$i; done
END
judge --artifacts "$work/art" --judge-timeout 6 <<END
$leaves
"\$BAILIFF_ANSWER" -- sleep 100 & "\$BAILIFF_ANSWER" -- sleep 100 & wait
"\$BAILIFF_ANSWER" -- true; [ \$? = 124 ] && echo '$pass'
END
is "$st $(ask '[a["limit"] for a in d["answers"]]')" \
    "0 [None, 'time', 'time', 'time']" \
    "with --artifacts the answers' time ends as it does without"
is "$(ask 'd["warnings"][-1]')" "artifacts: 20 more were left out" \
    "many names are counted"
is "$(cat "$work/art/x")" x "and the rest is there"
rm -rf "$work/art"

# --- cells that are kept -----------------------------------------------------------------

gone() {	# PID: within 3 s; a zombie of somebody else's is gone
	local i state
	for i in $(seq 60); do
		state=$(sed 's/.*) \(.\).*/\1/' "/proc/$1/stat" 2>/dev/null)
		[ -z "$state" ] || [ "$state" = Z ] && return 0
		sleep 0.05
	done
	return 1
}
holder() {
	sed -n 's/^bailiff: kept: until kill //p' "$work/err"
}
inits() {
	sed -n 's/.*nsenter -t \([0-9]*\) .*/\1/p' "$work/err"
}
echo 'echo kept >f' >"$answer"
printf '#!/bin/sh\n%s\necho %s\n' "$leaves" "'$pass'" >"$work/verifier"
"$B" run --judge "$work/verifier" --answer "$answer" --keep >"$work/out" \
    2>"$work/err"
is "$? $(cat "$work/out") $(inits | wc -l)" "0 passed, score 1 2" \
    "run --keep: the verdict, and two cells"
held=$(holder)
kill -0 "$held"
ok $? "their holder lives on"
is "$(ls "/proc/$held/fd" | wc -l) $(readlink "/proc/$held/cwd")" "6 /" \
    "and has nothing but three sockets"
if [ "$(id -u)" = 0 ]; then
	enter=$(sed -n "s/.*answer's cell; as root: \(.*\) sh\$/\1/p" "$work/err")
	is "$($enter sh -c 'id -un; cat /work/f' | tr '\n' ' ')" \
	    "answer kept " "its words lead into the answer's"
else
	skip "needs root" "its words lead into the answer's"
fi
kill "$held"
gone "$held" && for pid in $(inits); do gone "$pid" || break; done
ok $? "its end is theirs"
out=$("$B" exec --keep -- sh -c 'echo out; echo kept >f; exit 3' 2>"$work/err")
is "$? $out $(inits | wc -l)" "3 out 1" "exec --keep: the command's own status"
held=$(holder)
if [ "$(id -u)" = 0 ]; then
	is "$(cat "/proc/$(inits)/root/work/f")" kept "its files are there"
	kill -9 "$(inits)"
	gone "$held"
	ok $? "the cell's end is its holder's"
else
	skip "needs root" "its files are there"
	skip "needs root" "the cell's end is its holder's"
	kill "$held"
fi
"$B" exec --keep -w /no/such -- true >"$work/out" 2>"$work/err"
is "$? $(grep -c -e --keep "$work/err") $(holder)" "125 0 " \
    "exec --keep: nothing was started, and nothing is said of it"

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
cut() {		# SIGNAL WHOM [OPTION]: during a run, with the result to out
	printf '#!/bin/sh\n"$BAILIFF_ANSWER" %s -- sh solution.sh\n' "${3-}" \
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
	ok $? "$1 to the $2: nothing is left ${3-}"
}
for whom in helper judge answer; do
	if [ "$(id -u)" != 0 ]; then
		skip "its caller can't" "the $whom is killed"
		continue
	fi
	cut KILL $whom
	none infrastructure cell_gone "the $whom is killed"
done
if [ "$(id -u)" = 0 ]; then
	for whom in helper answer; do		# the last one is the fresh cell
		cut KILL $whom --fresh
		none infrastructure cell_gone "the $whom is killed --fresh"
	done
else
	skip "its caller can't" "the helper and a fresh cell are killed"
fi
cut TERM client --fresh
is "$st $(ask 'd["failure_kind"]')" "130 cancelled" "--fresh: told to stop"
cut TERM client
is "$st $(ask '[d["failure_kind"], "score" in d]')" "130 ['cancelled', False]" \
    "the client is told to stop"
cut KILL client
is "$st $(wc -c <"$work/out")" "137 0" "the client is killed: no document"

echo "1..$n"
