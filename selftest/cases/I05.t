#!/bin/bash
# I05. The judge fails: crashes, hangs, says nothing or nearly a verdict.  No
# verdict, each with its own reason; run.t has those of a judge in sh.
# More of the kind: judges in Python, by its own runner, as a whole program, as a
# function's body; numbers, keys and types near to right; by the descriptor; a
# judge that is no program; output without an end; a good verdict, then an end.
. selftest/payload/judged.sh

answer right.py <<'E'
def add(a, b):
    return a + b
E
pass='{"score": 1, "passed": true}'
says() {	# WANT NAME: a judge in sh from stdin
	{ echo '#!/bin/sh'; cat; } | verifier bad.sh
	run bad.sh right.py --judge-timeout $((3 * slow))
	case $1 in
	passed) gives "$full" "$2" ;;
	*)	none "$1" "$2" ;;
	esac
}
says passed "control: a good one" <<<"echo '$pass'"
# what it says, line by line
while IFS='|' read -r want text; do
	printf '%b' "$text" >"$work/text"
	says "$want" "says: $text" <<E
cat <<'X'
$(cat "$work/text")
X
E
done <<'E'
judge_no_output|
judge_two_objects|{"score": 1, "passed": true} {"score": 1, "passed": true}
judge_two_objects|{"score": 1, "passed": true}{}
judge_text_after|{"score": 1, "passed": true} done
judge_text_after|{"score": 1, "passed": true},
judge_text_after|{"score": 1, "passed": true}]
judge_last_line_not_json|{"score": 1, "passed": true}\nok
judge_not_finite|{"score": NaN, "passed": true}
judge_not_finite|{"score": Infinity, "passed": true}
judge_not_finite|{"score": -Infinity, "passed": false}
judge_not_finite|{"score": 1e999, "passed": true}
judge_not_finite|{"score": -1e999, "passed": false}
judge_score_type|{"score": "1", "passed": true}
judge_score_type|{"score": true, "passed": true}
judge_score_type|{"score": null, "passed": true}
judge_score_type|{"score": [1], "passed": true}
judge_score_type|{"score": {}, "passed": true}
judge_score_range|{"score": 1.01, "passed": true}
judge_score_range|{"score": -0.5, "passed": false}
judge_score_range|{"score": 100, "passed": true}
judge_score_missing|{"passed": true}
judge_score_missing|{"Score": 1, "passed": true}
judge_passed_missing|{"score": 1}
judge_passed_type|{"score": 1, "passed": "true"}
judge_passed_type|{"score": 1, "passed": null}
judge_passed_type|{"score": 1, "passed": 1}
judge_duplicate_key|{"score": 1, "score": 1, "passed": true}
judge_duplicate_key|{"score": 0, "passed": true, "score": 1}
judge_duplicate_key|{"score": 1, "passed": false, "passed": true}
judge_duplicate_key|{"score": 1, "passed": true, "\\u0073core": 0}
judge_not_object|[{"score": 1, "passed": true}]
judge_not_object|1
judge_not_object|"passed"
judge_not_object|null
judge_last_line_not_json|{score: 1, passed: true}
judge_last_line_not_json|{'score': 1, 'passed': True}
judge_last_line_not_json|{"score": 1, "passed": true
judge_last_line_not_json|{"score": 01, "passed": true}
judge_last_line_not_json|{"score": .5, "passed": true}
judge_last_line_not_json|{"score": 1, "passed": true,}
judge_last_line_not_json|result: {"score": 1, "passed": true}
passed|chatter\n{"score": 0, "passed": false}\n  {"score": 1.0e0, "passed": true}  \n\n
passed|{"passed":true,"score":1,"x":{"score":0,"passed":false}}
E
# how it ends, after a good verdict
while IFS='|' read -r want end; do
	says "$want" "a good verdict, and then: $end" <<<"echo '$pass'; $end"
done <<'E'
judge_exit_status|exit 3
judge_exit_status|exit 255
judge_exit_status|exit 124
judge_failed|exit 2
judge_status_mismatch|exit 1
judge_signal|kill -9 $$
judge_signal|kill -11 $$
judge_signal|kill -15 $$
judge_signal|kill -6 $$
judge_timeout|sleep 99
judge_timeout|kill -STOP $$
judge_timeout|while :; do :; done
passed|exit 0
E
says judge_no_output "closes its output" <<<"exec >&-; sleep 0.1"
says judge_line_too_long "a line without an end" \
    <<<"head -c 40000000 /dev/zero | tr '\\0' x"
printf '\177ELF not really' | verifier elf
run elf right.py
gives "3 none - True setup verifier_no_interpreter" "no program"
printf '#!/no/such/interpreter\n' | verifier gone.sh
run gone.sh right.py
none judge_not_started "no interpreter"

# In Python, whole.
while IFS='|' read -r want code; do
	printf 'import json, os, signal, sys, time\nP = json.dumps({"score": 1.0, "passed": True})\ndef main():\n%b\nif __name__ == "__main__":\n    main()\n' \
	    "$(sed 's/^/    /; s/\\n/\\n    /g' <<<"$code")" | verifier bad.py
	run bad.py right.py --judge-timeout $((3 * slow))
	case $want in
	passed) gives "$full" "Python: $code" ;;
	*)	none "$want" "Python: $code" ;;
	esac
done <<'E'
passed|print(P)
judge_no_output|pass
judge_failed|print(P); raise ValueError("mine")
judge_failed|print(P); 1 / 0
judge_failed|print(P); sys.exit(2)
judge_exit_status|print(P); sys.exit(3)
judge_status_mismatch|print(P); sys.exit(1)
judge_status_mismatch|print(P); sys.exit("a text")
judge_signal|print(P, flush=True); os.kill(os.getpid(), 9)
judge_signal|print(P, flush=True); os.abort()
judge_timeout|print(P, flush=True); time.sleep(99)
judge_failed|sys.setrecursionlimit(50); f = lambda: f(); f()
judge_failed|raise KeyboardInterrupt
judge_failed|raise SystemError("mine")
judge_failed|x = bytearray(8 << 30)
judge_not_finite|print(json.dumps({"score": float("nan"), "passed": True}))
judge_score_range|print(json.dumps({"score": 2, "passed": True}))
judge_last_line_not_json|print({"score": 1, "passed": True})
judge_last_line_not_json|print(P); print("bye")
judge_last_line_not_json|import atexit; atexit.register(print, "late"); print(P)
judge_no_output|os.close(1)
judge_exit_status|print(P, flush=True); os._exit(9)
judge_last_line_not_json|print(json.dumps({"score": 1, "passed": True}, indent=1))
E
verifier syntax.py <<'E'
import json
if __name__ == "__main__"
    print(json.dumps({"score": 1, "passed": True}))
E
run syntax.py right.py
none judge_failed "Python: a syntax error"
printf 'x = "\xff"\n__name__; json.dumps\n' | verifier latin.py
run latin.py right.py
none judge_failed "Python: a source that is no text"
verifier empty.py </dev/null
run empty.py right.py
none judge_no_output "Python: an empty verifier has nothing to say"
# the control: a caller that looks at the exit status alone is fooled
printf '#!/bin/sh\necho %s; exit 0\n' "'$pass and so on'" | verifier bad.sh
"$work/v/bad.sh" >/dev/null
is $? 0 "control: its exit status says nothing of that"
run bad.sh right.py
none judge_text_after "and it is no verdict"
done_testing
