#!/bin/bash
# A10. Files that an interpreter reads by itself, in the answer's folders: none
# of them runs as the judge.
# More of the kind: usercustomize, __init__, encodings, start-up files of sh,
# bash, perl, git, vim, readline, pip; variables that name them; a package that
# comes as an answer folder; .pyc files; a verifier that is itself a shell.
. selftest/payload/judged.sh

files='sitecustomize.py usercustomize.py json.py conftest.py x.pth os.py
time.py importlib.py bailiff.py bailiff_plain.py runner.py verifier.py
__init__.py unittest.py random.py collections.py encodings.py'
{
	echo "FILES = '''$files'''.split()"
	cat <<'E'
import os, site, sys
BAD = '''import os as _os, sys as _sys
_os.write(2, ("RAN %d %s\\n" % (_os.getuid(), _sys.argv[:1])).encode())
'''
def put():
    home = os.path.expanduser("~")
    lib = os.path.join(home, ".local/lib/python%d.%d/site-packages" %
                       sys.version_info[:2])
    for d in (os.getcwd(), home, lib, "/tmp", "/run"):
        try:
            os.makedirs(d, exist_ok=True)
        except OSError:
            continue
        for f in FILES:
            if os.path.exists(os.path.join(d, f)):
                continue
            try:
                with open(os.path.join(d, f), "w") as o:
                    o.write("import os; " * f.endswith(".pth") +
                            BAD.replace("\n", ";" * f.endswith(".pth") or
                                        "\n"))
            except OSError:
                pass
        sh = "echo RAN $(id -u) $0 >&2\n"
        for f, text in ((".bashrc", sh), (".profile", sh), (".bash_profile",
                sh), (".bash_login", sh), (".shrc", sh), (".bash_logout", sh),
                (".gitconfig", "[alias]\n\tstatus = !sh -c 'echo RAN >&2'\n"
                 "[core]\n\tfsmonitor = \"echo RAN >&2; false\"\n"
                 "\tpager = \"echo RAN >&2\"\n"),
                (".pythonrc.py", BAD), (".pdbrc", "import os"),
                ("pytest.ini", "[pytest]\naddopts = -p conftest\n"),
                ("setup.cfg", "[tool:pytest]\naddopts = -p conftest\n"),
                ("pyvenv.cfg", "home = /tmp\n"), (".vimrc", ":!echo RAN\n"),
                (".inputrc", "\n"), ("python3", "#!/bin/sh\n" + sh)):
            try:
                with open(os.path.join(d, f), "w") as o:
                    o.write(text)
                os.chmod(os.path.join(d, f), 0o755)
            except OSError:
                pass
put()
def add(a, b):
    put()
    return 3
E
} | answer put.py

# A judge that starts all that reads such files, before and after the answer.
verifier starts.py <<'E'
import importlib.util, json, os, subprocess, sys
def start():
    for words in (["python3", "-c", "import json, random, unittest, time"],
                  ["python3", "-m", "json.tool", "/dev/null"],
                  ["sh", "-c", "true"], ["bash", "-c", "true"],
                  ["bash", "-lc", "true"], ["bash", "-i", "-c", "true"],
                  ["perl", "-e", "1"], ["env", "python3", "-c", "1"],
                  ["git", "status"], ["python3", "-m", "unittest", "none"],
                  ["python3", "-m", "pytest", "--version"]):
        try:
            subprocess.run(words, stdin=subprocess.DEVNULL, timeout=20,
                           stdout=subprocess.DEVNULL, check=False)
        except OSError:
            pass
def main():
    start()
    if os.environ.get("HOW") == "run":
        subprocess.run([os.environ["BAILIFF_ANSWER"], "--", "python3",
                        "solution.py"], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
    else:
        spec = importlib.util.spec_from_file_location("s", sys.argv[1])
        mod = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(mod)
        mod.add(2, 3)
    start()
    print(json.dumps({"score": 0, "passed": False, "details": " ".join(
        [os.getcwd(), os.environ["HOME"]] + sorted(
            k for k in os.environ if k != "PYTHONPATH" or
            os.environ[k] != "/run/bailiff/py") + sys.path)}))
if __name__ == "__main__":
    main()
E
# the control, in one folder with the answer's files
mkdir "$work/open/home" && chmod 777 "$work/open/home"
rm -rf "$work/open/alone"
mkdir "$work/open/alone"
cp "$work/v/starts.py" "$work/open/alone/verifier.py"
cp "$work/a/put.py" "$work/open/alone/solution.py"
chmod 777 "$work/open/alone"
plain_tmp sh -c 'cd alone && HOME='"$work/open/home"' exec "$0" verifier.py \
    solution.py' $PY >"$work/alone" 2>"$work/alone.err" || :
[ "$(grep -c RAN "$work/alone.err")" -ge 5 ]
ok $? "control: in one folder and home they run: $(grep -c RAN "$work/alone.err")"
for how in called run; do
	HOW=$how run starts.py put.py -e HOW -t 20
	gives "$zero" "a judge that starts interpreters: $how"
	is "$(ask 'd["judge"]["stderr"].count("RAN")')" 0 \
	    "$how: none of the files ran as the judge"
	like "$(ask 'd["details"]')" '/work /home/judge .*' \
	    "$how: it has its own folder and home"
done
is "$(ask '[w for w in d["details"].split() if w.startswith(("PYTHON", "LD_",
    "BASH_ENV", "ENV", "PERL", "GIT"))]')" "[]" "and no variable names one"

# An answer that is a folder brings them along: the judge has a copy of it.
mkdir "$work/a/folder"
bad="import os, sys
os.write(2, ('RAN %d\\n' % os.getuid()).encode())
"
for f in $files; do
	echo "$bad" >"$work/a/folder/$f"
done
echo "import os; os.write(2, b'RAN')" >"$work/a/folder/x.pth"
echo 'print(5)' >"$work/a/folder/main.py"
echo "$bad
def add(a, b):
    return a + b" >"$work/a/folder/solution.py"
verifier folder.py <<'E'
import importlib.util, json, os, sys, subprocess
def main():
    sys.path.insert(0, os.path.join(os.getcwd(), sys.argv[1]))
    import random, unittest, collections, colorsys
    import solution
    good = solution.add(2, 3) == 5
    p = subprocess.run(["python3", "-c", "import json, random"], check=False)
    q = subprocess.run(["python3", "-S", "-m", "json.tool", "/dev/null"],
                       stderr=subprocess.DEVNULL, check=False)
    print(json.dumps({"score": float(good), "passed": good}))
if __name__ == "__main__":
    main()
E
run folder.py folder
gives "$full" "a folder on the judge's path"
is "$(ask 'd["judge"]["stderr"].count("RAN")')" 0 \
    "a folder on the judge's path: nothing of it ran as the judge"
[ "$(ask '"".join(a["stderr"] for a in d["answers"]).count("RAN") > 0')" = True ]
ok $? "control: it did run, as the answer"
cp -r "$work/a/folder" "$work/open/alone/solution"
cp "$work/v/folder.py" "$work/open/alone/verifier.py"
plain_tmp sh -c 'cd alone && exec "$0" verifier.py solution' $PY \
    >"$work/alone" 2>"$work/alone.err"
grep -q RAN "$work/alone.err"
ok $? "control: without walls it runs as the judge"

# In a shell that is the judge.
verifier shell.sh <<'E'
#!/bin/bash -l
"$BAILIFF_ANSWER" -- python3 "$1" >/dev/null 2>&1
bash -i -c true </dev/null
bash -lc true
. ~/.profile 2>/dev/null
for f in .bashrc .profile .gitconfig json.py sitecustomize.py; do
	[ -e ~/$f ] || [ -e ./$f ] || [ -e /tmp/$f ] && exit 3
done
echo '{"score": 0, "passed": false}'
E
run shell.sh put.py
gives "$zero" "a judge that is a login shell"
is "$(ask 'd["judge"]["stderr"].count("RAN")')" 0 "none of them ran in it"
done_testing
