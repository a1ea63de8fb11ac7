#!/bin/bash
# A11. Bytes that are not text: they reach the judge exactly, the result is
# valid JSON in valid UTF-8, and none is an error of the run.
# More of the kind: as returned strings and bytes, in exceptions' texts, in names
# of attributes and types, in what is printed; overlong and cut UTF-8, BOMs,
# control characters, line ends of all kinds; in file names; in argv.
. selftest/payload/judged.sh

# The judge gets the bytes and says what they are, in hex or by their sum.
verifier bytes.sh <<'E'
#!/bin/sh
"$BAILIFF_ANSWER" -t 5 -- python3 "$1" >out 2>err
printf '{"score": 0, "passed": false, "details": "%s %s"}\n' \
    "$(sha256sum <out | cut -c1-16)" "$(sha256sum <err | cut -c1-16)"
E
valid() {	# NAME: what the run printed is one JSON document in UTF-8
	$PY -c 'import json, sys
text = open(sys.argv[1], "rb").read()
text.decode("utf-8")
d = json.loads(text)
json.dumps(d, ensure_ascii=False).encode("utf-8")
sys.exit(not text.endswith(b"}\n") or text.count(b"\n") != 1)' "$work/out"
	ok $? "$1: one line of JSON, in UTF-8" "$work/out"
}
sum() {
	sha256sum | cut -c1-16
}
while read -r name code; do
	echo "import os, sys
B = $code
os.write(1, B) if len(B) < 60000 else sys.stdout.buffer.write(B)
sys.stdout.flush()
os.write(2, B[:60000])" | answer bytes.py
	want="$($PY -c "import sys; sys.stdout.buffer.write($code)" | sum) \
$($PY -c "import sys; sys.stdout.buffer.write(($code)[:60000])" | sum)"
	run bytes.sh bytes.py
	gives "$zero" "$name"
	is "$(ask 'd["details"]')" "$want" "$name: exactly those bytes"
	valid "$name"
done <<'E'
nul b"\x00"
ff_fe b"\xff\xfe"
surrogate b"\xed\xa0\x80"
surrogate_pair b"\xed\xa0\xbd\xed\xb8\x80"
mib_of_80 b"\x80"*(1<<20)
all bytes(range(256))*8
overlong b"\xc0\xaf\xe0\x80\xaf\xf0\x80\x80\xaf"
cut b"\xf0\x9f\x98"
too_high b"\xf4\x90\x80\x80\xf8\x88\x80\x80\x80"
bom b"\xef\xbb\xbf{}"
controls bytes(range(32))+b"\x7f\xc2\x80\xc2\x9f"
line_ends b"a\r\nb\rc\n\xe2\x80\xa8d\xe2\x80\xa9\x0b\x0c\x85"
escapes b"\x1b]0;x\x07\x1b[2J\x9b2J"
quotes b"\"\\\\\"}]}{\\u0000\\ud800"
cut_at_keep b"a"*4095+b"\xc3\xa9"*10
utf16 "hello\U0001f600".encode("utf-16")
noncharacters b"\xef\xbf\xbe\xef\xbf\xbf\xf4\x8f\xbf\xbf"
nothing b""
E
run bytes.sh bytes.py -t 5
# The exact bytes are in the result as well.
echo 'import os; os.write(1, bytes(range(256)))' | answer bytes.py
run bytes.sh bytes.py
is "$(ask '__import__("base64").b64decode(d["answers"][0]["stdout_b64"]) ==
    bytes(range(256))')" True "kept bytes can be had again, exactly"

# A judge that wants just that output.
verifier wants.py <<'E'
import json, os, subprocess
WANT = bytes(range(256)) * 100 + b"\xed\xa0\x80\x00"
def main():
    p = subprocess.run([os.environ["BAILIFF_ANSWER"], "--", "python3",
                        "solution.py"], stdout=subprocess.PIPE, check=False)
    good = p.stdout == WANT
    print(json.dumps({"score": float(good), "passed": good}))
if __name__ == "__main__":
    main()
E
echo 'import os; os.write(1, bytes(range(256)) * 100 + b"\xed\xa0\x80\0")' |
    answer wanted.py
run wants.py wanted.py
gives "$full" "odd bytes that the judge wants"
# the control: a harness that decodes on the way fails for it
$PY -c 'import subprocess, sys
subprocess.run([sys.executable, sys.argv[1]], stdout=subprocess.PIPE,
               text=True, encoding="utf-8")' "$work/a/wanted.py" 2>"$work/e"
[ $? != 0 ] && grep -q UnicodeDecodeError "$work/e"
ok $? "control: one that decodes on the way fails"

# Called: text and bytes by value; what is no text is the answer's failure.
verifier values.py <<'E'
import importlib.util, json, sys
def main():
    spec = importlib.util.spec_from_file_location("s", sys.argv[1])
    mod = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mod)
    good, why = True, []
    for i in range(mod.count()):
        try:
            got, want = mod.value(i), eval(mod.form(i))
            good = good and got == want and type(got) is type(want)
        except Exception as e:
            print(type(e).__name__, str(e)[:500], repr(e)[:500])
            print(type(e).__name__, str(e)[:500], file=sys.stderr)
            why.append(str(e)[:100])
            good = False
    print(json.dumps({"score": float(good), "passed": good,
                      "details": "; ".join(why)}))
if __name__ == "__main__":
    main()
E
answer values.py <<'E'
V = [b"\x00", b"\xff\xfe", bytes(range(256)), "\x00", "\uffff\ufffe", "\U0010ffff",
     "\x80\x85\u2028\x1b[2J", b"\x80" * (1 << 20), "é" * 100000, bytearray(b"\xff"),
     {"\x00": b"\x00"}, ["\r\n", "\r"]]
count = lambda: len(V)
value = lambda i: V[i]
form = lambda i: repr(V[i])
E
run values.py values.py
gives "$full" "odd text and bytes by value"
while read -r name code; do
	printf 'count = lambda: 1\nform = lambda i: "0"\ndef value(i):\n\t%s\n' \
	    "$code" | answer bad.py
	run values.py bad.py
	gives "$zero" "called: $name"
	valid "called: $name"
done <<'E'
surrogate return "\ud800"
surrogates return ["\udfff\ud800"]
surrogate_key return {"\ud800": 1}
surrogate_in_exception raise ValueError("\ud800")
nul_in_exception raise ValueError("\x00\x1b[2J\xff")
odd_exception_name raise type("\u202e\U0001f600", (Exception,), {})("x")
surrogate_exception_name raise type("\ud800", (Exception,), {})("x")
surrogate_attribute class_ = type("C", (), {}); c = class_(); setattr(c, "\ud800", 1); return c
surrogate_class return type("\ud800", (), {})()
surrogate_function f = lambda: 0; f.__name__ = "\ud800"; f.__qualname__ = "\ud800"; return f
surrogate_printed print("\ud800"); return 1
nul_printed print("\x00\xff"); return 1
E
for where in doc name default; do
	case $where in
	doc)	code='def value(i): return 1
value.__doc__ = "\ud800"' ;;
	name)	code='def value(i): return 1
value.__qualname__ = "\ud800"
globals()["\ud800"] = lambda: 0
globals()["\x00"] = 1' ;;
	default) code='def value(i, x="\ud800"): return 1' ;;
	esac
	printf 'count = lambda: 1\nform = lambda i: "0"\n%s\n' "$code" |
	    answer bad.py
	run values.py bad.py
	gives "$zero" "a surrogate in a function's $where"
done

# A judge that captures, and one that has another stream of its own.
verifier captures.py <<'E'
import contextlib, importlib.util, io, json, sys
def main():
    real, t = sys.stdout, io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("s", sys.argv[1])
    mod = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mod)
    sys.stdout = t
    mod.value(0)
    sys.stdout = real
    print(json.dumps({"score": 0.0, "passed": False}))
if __name__ == "__main__":
    main()
E
printf 'def value(i):\n\tprint("\\ud800\\udfff")\n' | answer bad.py
run captures.py bad.py
gives "$zero" "no text, printed where the judge captures it"

# The source itself.
printf 'x = "\xff\xfe"\n\0' | answer bad.py
for v in "$usual" "$piped"; do
	run "$v" bad.py
	gives "$zero" "a source that is no text: ${v##*/}"
	valid "a source that is no text: ${v##*/}"
done
printf '\xef\xbb\xbfdef add(a, b):\r\n    return a + b\r\n' | answer bom.py
run "$usual" bom.py
gives "$full" "a source with a byte order mark and other line ends"
done_testing
