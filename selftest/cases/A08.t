#!/bin/bash
# A08. A link where output is collected: it isn't followed, neither by
# --artifacts nor by exec --get, and what it points to stays as it is.
# More of the kind: to a file, a folder, the root; relative, up and out, in a
# circle, to itself; a folder on the way; the artifacts folder itself; a hard
# link; one that is swapped while it is copied; names as ../ in a listing.
. selftest/payload/judged.sh

echo "TOP-SECRET" >"$work/open/secret"
chmod 0600 "$work/open/secret"
mkdir "$work/open/closed" && echo "TOP-SECRET" >"$work/open/closed/f"
looks() {	# of the targets
	stat -c '%n %u %g %a %h %Y %s' "$work/open/secret" "$work/open/closed/f" \
	    /etc/shadow /etc/passwd
	cat "$work/open/secret"
}
looks >"$work/before"
verifier any.sh <<'E'
#!/bin/sh
echo "TOP-SECRET of the judge" >expected.txt
"$BAILIFF_ANSWER" -t 3 -- python3 "$1" >/dev/null
echo '{"score": 0, "passed": false}'
E
n_dir=0
collect() {	# NAME FILES-WANTED: the answer from stdin, after its head
	{ printf '%s\n' 'import os, sys' "OPEN = '$work/open'" 'A = "artifacts"' \
	    'if "solution.py" in sys.argv[0] or True: os.mkdir(A)'
	cat
	echo 'open(A + "/plain", "w").write("mine") if os.path.isdir(A) and not os.path.islink(A) else 0'
	} | answer "$1.py"
	n_dir=$((n_dir + 1))
	run any.sh "$1.py" --artifacts "$work/got.$n_dir"
	gives "$zero" "$1: the verdict stands"
	is "$(cd "$work/got.$n_dir" && find . ! -type d | sort | xargs)" "$2" \
	    "$1: what came out"
	! grep -rqsE 'TOP-SECRET|root:' "$work/got.$n_dir"
	ok $? "$1: and no word of the target's"
	is "$(find "$work/got.$n_dir" -type l -o ! -user "$(id -u ${BL_USER-})" | wc -l)" 0 \
	    "$1: no link, and nobody else's file"
	if [ "${3-}" != clean ]; then
		is "$(ask 'len(d["warnings"]) >= 1')" True "$1: the result says so"
	fi
}
collect shadow ./plain <<'E'
os.symlink("/etc/shadow", A + "/output.txt")
E
collect passwd ./plain <<'E'
os.symlink("/etc/passwd", A + "/output.txt")
E
collect judges ./plain <<'E'
os.symlink("/work/expected.txt", A + "/output.txt")
os.symlink("../expected.txt", A + "/b")
E
collect readers ./plain <<'E'
os.symlink("/proc/self/environ", A + "/output.txt")
os.symlink("/proc/self/fd/3", A + "/b")
os.symlink("/proc/1/environ", A + "/c")
E
collect callers ./plain <<'E'
os.symlink(OPEN + "/secret", A + "/output.txt")
os.symlink("../" * 30 + OPEN[1:] + "/secret", A + "/b")
E
collect folder ./plain <<'E'
os.symlink(OPEN + "/closed", A + "/d")
os.symlink("/", A + "/root")
os.symlink("..", A + "/up")
os.symlink(".", A + "/here")
E
collect circle ./plain <<'E'
os.symlink("b", A + "/a")
os.symlink("a", A + "/b")
os.symlink("self", A + "/self")
E
collect dangling ./plain <<'E'
os.symlink("/no/such/file", A + "/a")
os.symlink("", A + "/b") if False else os.symlink("x" * 4000, A + "/b")
E
collect on_the_way "./plain ./real/f" <<'E'
os.mkdir(A + "/real")
open(A + "/real/f", "w").write("mine")
os.symlink("real", A + "/way")
E
collect the_folder_itself "" <<'E'
os.rmdir(A)
os.symlink(OPEN, A)
E
collect the_folder_is_etc "" <<'E'
os.rmdir(A)
os.symlink("/etc", A)
E
collect hard_inside "./a ./b ./plain" clean <<'E'
open(A + "/a", "w").write("mine")
os.link(A + "/a", A + "/b")
E
collect hard_outside "./plain" clean <<'E'
done = 0
for f in ("/etc/passwd", "/usr/bin/python3", "/etc/hosts", "/run/bailiff/serve.py"):
    try:
        os.link(f, A + "/hard%d" % done)
        done += 1
    except OSError:
        pass
E
# Swapped until the last moment, by a process that outlives the answer's first.
{ cat <<'E'
import os, time
os.mkdir("artifacts")
if os.fork() == 0:
    os.setsid()
    for fd in range(3):
        os.close(fd)
    while True:
        os.symlink("/etc/passwd", "t")
        os.rename("t", "artifacts/f")
        with open("t", "w") as f:
            f.write("mine")
        os.rename("t", "artifacts/f")
time.sleep(0.05)
E
} | answer swapped.py
links=0 texts=0
for i in 1 2 3 4 5 6 7 8; do
	run any.sh swapped.py --artifacts "$work/got.s$i"
	[ "$st" = 1 ] || break
	[ "$(cat "$work/got.s$i/f" 2>/dev/null)" = mine ] && texts=$((texts + 1))
	[ -e "$work/got.s$i/f" ] || links=$((links + 1))
done
is "$((links + texts))" 8 "swapped: the file, or nothing ($texts times of 8)"
! grep -rqs root: "$work"/got.s*
ok $? "swapped: never the link's target"
rm -rf "$work"/got.*

# the control: a copy that follows links has the target's text
mkdir "$work/open/c" && ln -s ../secret "$work/open/c/output.txt"
ln -s /etc/passwd "$work/open/c/p"
cp -rL "$work/open/c" "$work/followed"
grep -rqs TOP-SECRET "$work/followed" && grep -rqs root: "$work/followed"
ok $? "control: a copy that follows links has their text"
rm -rf "$work/open/c" "$work/followed"

# exec --get
get() {		# WANT NAME SRC SCRIPT
	rm -rf "$work/g"
	"$B" exec --get "$3:$work/g" -- python3 -c "import os
$4" >"$work/o" 2>"$work/err"
	is "$? $(find "$work/g" 2>/dev/null | wc -l)" "$1" "--get: $2"
	! grep -rqsE 'TOP-SECRET|root:' "$work/g" "$work/o"
	ok $? "--get: $2: no word of the target's"
}
get "0 1" "an honest file" out.txt 'open("out.txt", "w").write("mine")'
get "125 0" "a link to /etc/shadow" out.txt 'os.symlink("/etc/shadow", "out.txt")'
get "125 0" "a link to /etc/passwd" out.txt 'os.symlink("/etc/passwd", "out.txt")'
get "125 0" "a link to the reader's environment" out.txt \
    'os.symlink("/proc/self/environ", "out.txt")'
get "125 0" "a link to the caller's file" out.txt \
    "os.symlink('$work/open/secret', 'out.txt')"
get "125 0" "a folder on the way is a link" d/passwd 'os.symlink("/etc", "d")'
get "125 0" "a folder that is a link" d 'os.symlink("/etc", "d")'
get "125 0" "a folder that holds a link" d \
    'os.mkdir("d"); os.symlink("/etc/passwd", "d/x"); open("d/a", "w").write("a")'
get "125 0" "a folder on the way is a link, within the folder" d/f \
    'os.mkdir("e"); open("e/f", "w").write("x"); os.symlink("e", "d")'
get "125 0" "a link to the root" d/etc/passwd 'os.symlink("/", "d")'
looks >"$work/after"
cmp -s "$work/before" "$work/after"
ok $? "the targets' owners, modes, times and links are as they were" \
    "$work/before" "$work/after"
done_testing
