#!/bin/bash
# A05. Reads the judge: none of its text, path, arguments, environment or open
# files is to be had by any name, and its processes are not even listed.
# More of the kind: a child of the judge's with words in its arguments; threads,
# other process files; open descriptors of its own; the whole tree of files,
# hidden names too; mount lists; by the call pattern and by BAILIFF_ANSWER; a
# second answer cell; what an earlier answer left; the helper's own socket.
. selftest/payload/judged.sh

verifier looked_at.py <<'E'
import importlib.util, json, os, subprocess, sys, tempfile
MARK = "JUDGES" + "-MARK"
TEXT = "JUDGES-MARK in the text"
def main():
    os.environ["A_SECRET"] = MARK
    with open("expected.txt", "w") as f:
        f.write(MARK)
    os.makedirs("hidden/.deep", exist_ok=True)
    with open("hidden/.deep/expected.txt", "w") as f:
        f.write(MARK)
    t = tempfile.NamedTemporaryFile("w", suffix=MARK)
    t.write(MARK)
    t.flush()
    child = subprocess.Popen(["sleep", "20"], executable="/bin/sleep",
                             env={"E": MARK}, pass_fds=(t.fileno(),))
    other = subprocess.Popen(["sh", "-c", "sleep 20; : " + MARK])
    try:
        if len(sys.argv) > 2 or os.path.exists("/run/bailiff") and \
                os.environ.get("HOW") == "run":
            p = subprocess.run([os.environ["BAILIFF_ANSWER"], "--", "python3",
                                "solution.py"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, check=False)
            got = p.stdout.decode()
        else:
            spec = importlib.util.spec_from_file_location("s", sys.argv[1])
            mod = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(mod)
            got = "".join(mod.look())
    finally:
        child.kill()
        other.kill()
    for line in got.splitlines():
        print("look", line)
    print(json.dumps({"score": 0, "passed": False, "details": got}))
if __name__ == "__main__":
    main()
E
answer look.py <<'E'
import glob, os, re
MARK = re.compile(b"JUDGE[S]-MAR[K]|verifie[r]\\.py")
out = []
def has(path, follow=True):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            return MARK.search(os.read(fd, 1 << 20)) is not None
        finally:
            os.close(fd)
    except (OSError, ValueError):
        return False
def say(name, good):
    out.append("%s %s\n" % (name, "found" if good else "none"))
def pids():
    mine = {str(os.getpid())}
    return [p for p in os.listdir("/proc") if p.isdigit() and p not in mine]
def look():
    del out[:]
    some = pids() + [str(os.getppid()), "1"]
    say("by_path", any(map(has, ["verifier.py", "../verifier.py",
        "expected.txt", "/work/verifier.py", "/work/expected.txt",
        "/run/bailiff/py/runner.py", "hidden/.deep/expected.txt"])))
    for what in "cmdline", "environ", "maps", "mountinfo", "stat":
        say(what, any(has("/proc/%s/%s" % (p, what)) for p in some))
    say("cwd", any(has("/proc/%s/cwd/verifier.py" % p) for p in some))
    say("root", any(has("/proc/%s/root%s/verifier.py" % (p, os.getcwd()))
                    for p in pids()))
    say("fd", any(has(f) for p in some for f in
                  glob.glob("/proc/%s/fd/*" % p)))
    say("task", any(has(f) for p in some for f in
                    glob.glob("/proc/%s/task/*/cmdline" % p) +
                    glob.glob("/proc/%s/task/*/environ" % p)))
    hit, names = 0, 0
    tops = ["/work", "/tmp", "/run", "/home", "/var/tmp", "/dev/shm", "/root",
            "/mnt", "/srv", "/opt", "/media"] \
        if os.getcwd() == "/work" else [os.path.dirname(os.getcwd()), "/tmp"]
    for top in tops:
        for folder, folders, files in os.walk(top):
            for name in files + folders:
                if name.startswith(("solution.", "s.")):
                    continue
                hit += has(os.path.join(folder, name))
                names += MARK.search(name.encode(errors="replace")) is not None
            if len(files) > 5000:
                break
    say("tree", hit)
    say("tree_names", names)
    say("others_listed", any(os.stat("/proc/" + p).st_uid != os.getuid()
                             for p in pids()) if os.getcwd() == "/work"
        else [p for p in pids() if has("/proc/%s/cmdline" % p)])
    say("own_fds", any(has("/proc/self/fd/%d" % fd) for fd in range(3, 64)))
    say("mounts", MARK.search(open("/proc/self/mountinfo", "rb").read()))
    say("environment", any(MARK.search(v.encode()) for v in
                           os.environ.values()))
    return out
if __name__ == "__main__":
    print("".join(look()), end="")
E
words="by_path cmdline environ cwd fd task tree tree_names others_listed"
alone_s=20 alone looked_at.py look.py >/dev/null
sed -n 's/^look //p' "$work/alone" >"$work/outside"
for how in called run; do
	HOW=$how run looked_at.py look.py -e HOW
	gives "$zero" "an answer that looks around: $how"
	ask 'd["details"]' >"$work/in"
	cp "$work/outside" "$work/out"
	for w in $words; do
		both $w none found "$how: $w"
	done
	for w in maps mountinfo stat root own_fds mounts environment; do
		is "$(said in $w)" none "$how: $w"
	done
done

# What it can see at all: nothing but itself.
answer list.py <<'E'
import os
print(sorted(os.listdir("/work")), sorted(os.listdir("/home")),
      sorted(os.listdir("/tmp")), sorted(k for k in os.environ))
E
verifier sees.sh <<'E'
#!/bin/sh
echo secret >/work/secret; echo secret >/tmp/secret; echo secret >~/secret
"$BAILIFF_ANSWER" -- python3 "$1" >o; "$BAILIFF_ANSWER" --fresh -- python3 "$1" >>o
[ "$(sort -u o | wc -l)" = 1 ] || exit 3
printf '{"score": 0, "passed": false, "details": "%s"}\n' "$(head -n 1 o)"
E
run sees.sh list.py
like "$(ask 'd["details"]')" "\['solution.py'\] \['answer'\] \[\] \['HOME', \
'LANG', 'LC_CTYPE', 'LOGNAME', 'PATH', 'TMPDIR', 'USER'\]|\['solution.py'\] \
\['answer'\] \[\] \['HOME', 'LANG', 'LOGNAME', 'PATH', 'TMPDIR', 'USER'\]" \
    "its folders and variables hold nothing of the judge's"
done_testing
