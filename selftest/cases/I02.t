#!/bin/bash
# I02. Cannot be removed: whatever a cell's folders hold, the cell is gone
# within a bound, nothing outside is touched, and the next run isn't hindered.
# More of the kind: modes of 000 for files and folders, all attributes, deep
# trees, wide ones, odd names, links and loops, mounts that it can't make; open
# and mapped files; running programs' own files; in each private folder; as an
# answer folder and as artifacts.
. selftest/payload/judged.sh
runs

mkdir "$work/open/keep" && echo mine >"$work/open/keep/f"
chmod 777 "$work/open/keep"
before=$(find "$work/open/keep" / -maxdepth 1 -printf '%p %m %u\n' 2>/dev/null | sort)
slots() {	# what the machine still has of runs: mounts and processes
	grep -c bailiff /proc/self/mountinfo
}
mounts=$(slots)
while IFS='|' read -r name code; do
	{ echo "KEEP = '$work/open/keep'"
	printf 'import os, sys\nfor D in ("/work", "/tmp", "/home/answer"):\n  os.chdir(D)\n  try:\n%b\n  except OSError as e: print(e)\nprint("made")\n' \
	    "$(sed 's/^/    /; s/\\n/\\n    /g' <<<"$code")"; } | answer hard.py
	run runs.sh hard.py -t $((20 * slow))
	gives "$zero" "$name"
	is "$(ask '"made" in d["answers"][0]["stdout"]')" True \
	    "$name: control: it was made"
	took=$(ask 'd["wall_ms"] - sum(a["wall_ms"] for a in d["answers"])')
	[ "$took" -lt $((2500 * slow)) ]
	ok $? "$name: gone within a bound ($took ms)"
	left $mark
	ok $? "$name: nothing is left"
	"$B" exec -- sh -c 'ls -A . /tmp ~ | wc -l' >"$work/o" 2>&1 </dev/null
	like "$(cat "$work/o")" '[0-9]' "$name: the next run has empty folders"
done <<'E'
folders of mode 000|for i in range(50):\n  os.makedirs("d%d/e" % i); os.chmod("d%d/e" % i, 0); os.chmod("d%d" % i, 0)\nos.chmod(".", 0o700)
files of mode 000|for i in range(50):\n  open("f%d" % i, "w").close(); os.chmod("f%d" % i, 0)
20,000 folders, one in another|for i in range(7000 if D != "/work" else 20000):\n  os.mkdir("d"); os.chdir("d")
100,000 files|for i in range(30000): open("f%d" % i, "w").close()
names like options|for n in ("-rf", "--", "-i", "--no-preserve-root", "*", "~", "$(id)", ";", "|"): os.makedirs(n + "/x")
names with line ends, and no text|for n in (b"a\\nb", b"\\xff\\xfe", b"\\r", b" ", b"\\x01", b"x" * 255, b"..."): os.makedirs(n + b"/" + n)
links to the root|for i, t in enumerate(("/", "/usr", KEEP, "..", ".", "/proc/self/root", "../../../..")): os.symlink(t, "l%d" % i)
links in a circle|os.symlink("b", "a"); os.symlink("a", "b"); os.mkdir("c"); os.symlink("../c", "c/c")
a tree without rights|os.makedirs("a/b/c/d")\nfor d in ("a/b/c/d", "a/b/c", "a/b", "a"): os.chmod(d, 0)
sticky and odd modes|for m in (0o1777, 0o2777, 0o4777, 0o7000, 0o111, 0o222):\n  os.mkdir("m%o" % m); os.chmod("m%o" % m, m)
its own folder, renamed and removed|os.makedirs("x/y"); os.chdir("x/y"); os.rmdir("../y")
pipes, sockets, holes|import socket\nos.mkfifo("p"); socket.socket(socket.AF_UNIX).bind("s"); open("h", "wb").truncate(100 << 20)
files that are open and mapped|import mmap\nk = []\nfor i in range(50):\n  f = open("m%d" % i, "w+b"); f.truncate(4096); k.append(mmap.mmap(f.fileno(), 4096)); os.unlink("m%d" % i)
attributes|open("x", "w").close()\nfor i in range(9):\n  try: os.setxattr("x", "user.a%d" % i, b"x" * 100)\n  except OSError: break
E
# the control: what takes a tree as it looks does not get it away
(cd "$work/open" && plain sh -c 'mkdir -p t/a/b; chmod 0 t/a; rm -rf t' \
    2>/dev/null)
[ -d "$work/open/t" ]
ok $? "control: a plain rm leaves a folder of mode 000"
chmod -R 700 "$work/open/t" && rm -rf "$work/open/t"
is "$(find "$work/open/keep" / -maxdepth 1 -printf '%p %m %u\n' 2>/dev/null | sort)" \
    "$before" "the root and what the links named are as they were"
is "$(slots)" "$mounts" "no mount is left on the machine"

# In calls, and with what comes out.
cat <<'E' | answer hard.py
import os
os.makedirs("artifacts/a/b")
for i in range(300):
    os.mkdir("artifacts/d%d" % i)
os.chmod("artifacts/a/b", 0)
os.chmod("artifacts/a", 0)
os.chmod("artifacts", 0o111)
def add(a, b):
    os.chmod("/work", 0)
    return a + b
E
run "$usual" hard.py --artifacts "$work/got"
gives "$full" "right answers from a folder that it closed, artifacts too"
is "$(find "$work/got" ! -user "$(id -u ${BL_USER-})" | wc -l)" 0 \
    "what came out is the caller's to remove"
rm -rf "$work/got"
[ ! -e "$work/got" ]
ok $? "and can be removed"
done_testing
