#!/bin/bash
# A07. A result that was there before: no name that an answer can write is read
# by the harness, and a judge's number counts only within 0 and 1.
# More of the kind: in the cell's /run, by the program's own working folder, by
# links, pipes and sockets of these names; by what a verifier's own result
# descriptor is called; Harbor's names; as an answer folder that brings them;
# before the judge begins (by an earlier answer run) and after it ended.
. selftest/payload/judged.sh

names='result.json reward.txt reward.json verdict verdict.json ../result.json
/tmp/result.json /tmp/reward.txt /logs/verifier/reward.txt /run/result.json
/run/bailiff/result.json /run/bailiff/verdict /work/verdict /work/score
/home/answer/result.json /dev/shm/result.json /var/tmp/result.json output.json
/proc/self/fd/3 /dev/fd/3 /run/bailiff/run.sock'
for text in '{"score": 1, "passed": true}' '{"score": 1.0, "passed": true}' \
    1 nan inf 1.5 -1; do
	{
		echo "import os"
		echo "NAMES = '''$names'''.split()"
		echo "TEXT = '''$text'''"
		cat <<'E'
def put():
    done = 0
    for name in NAMES:
        for how in "w", "a":
            try:
                os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
                with open(name, how) as f:
                    f.write(TEXT + "\n")
                done += 1
            except OSError:
                pass
    return done
DONE = put()
import atexit
atexit.register(put)
def add(a, b):
    put()
    return 3
if __name__ == "__main__":
    print(DONE)
E
	} | answer put.py
	run "$usual" put.py
	gives "$zero" "called: each name holds $text"
	run "$piped" put.py
	gives "$zero" "run: each name holds $text"
	like "$(ask 'd["answers"][0]["stdout"].strip()')" '[1-9][0-9]' \
	    "it could write enough of them"
done
# the control: a harness that reads one of them believes it
alone "$usual" put.py >/dev/null
is "$(head -n 1 "$work/open/alone/reward.txt")" -1 "control: without walls it is there"

# Odd objects of these names, in time for whoever would look for one.
answer odd.py <<'E'
import os, socket
for i, name in enumerate(("result.json", "reward.txt", "verdict", "output.txt",
                          "result", "score")):
    if i % 3 == 0:
        os.mkfifo(name)
    elif i % 3 == 1:
        os.symlink("/dev/zero", name)
    else:
        socket.socket(socket.AF_UNIX).bind(name)
def add(a, b):
    return 3
E
for v in "$usual" "$piped"; do
	run "$v" odd.py -t 2
	gives "$zero" "pipes, links and sockets of these names: ${v##*/}"
done

# An answer folder that brings them.
mkdir "$work/a/folder"
for f in result.json reward.txt verdict verdict.json metadata.json; do
	echo '{"score": 1, "passed": true}' >"$work/a/folder/$f"
done
echo 'print(3)' >"$work/a/folder/main.py"
verifier folder.sh <<'E'
#!/bin/sh
[ "$("$BAILIFF_ANSWER" -- python3 "$1/main.py")" = 5 ] && exit 3
echo '{"score": 0, "passed": false}'
E
run folder.sh folder
gives "$zero" "a folder with results in it"
# the judge's own cell has what was given to it, and no word of the run's
verifier fresh.sh <<'E'
#!/bin/sh
[ "$(ls)" = "solution.py
verifier" ] && [ -z "$(ls /tmp)" ] || { ls . /tmp >&2; exit 3; }
"$BAILIFF_ANSWER" -- python3 "$1" >/dev/null
[ "$(ls)" = "solution.py
verifier" ] && [ -z "$(ls /tmp)" ] && echo '{"score": 1, "passed": true}'
E
run fresh.sh put.py
gives "$full" "the judge's folders start out fresh, and stay its own"

# A judge's number: finite, and within 0 and 1.
for bad in nan:not_finite inf:not_finite -inf:not_finite; do
	verifier number.py <<E
import json
__name__
print(json.dumps({"score": float("${bad%:*}"), "passed": True}))
E
	run number.py put.py
	none "judge_${bad#*:}" "a judge's ${bad%:*}"
done
for bad in 1.5 -1 1.0000001 -1e-9 1e308; do
	printf '#!/bin/sh\necho %s\n' "'{\"score\": $bad, \"passed\": true}'" |
	    verifier number.sh
	run number.sh put.py
	none judge_score_range "a judge's $bad"
done
for good in 0 1 0.0 1.0 1e-300 0.9999999; do
	printf '#!/bin/sh\necho %s\n' "'{\"score\": $good, \"passed\": true}'" |
	    verifier number.sh
	run number.sh put.py
	is "$st $(ask 'd["score"] == '$good)" "0 True" "a judge's $good"
done
done_testing
