#!/bin/bash
# B07. Fills the disk: space and names are limited per run; the harness still
# writes its result, and the next run has all of it.
# More of the kind: each private folder; empty files, folders, links, long names;
# holes; appends, maps and preallocation; unlinked files kept open; a file above
# --fsize; while called; artifacts of a full cell.
. selftest/payload/judged.sh
runs

fast=$(mktemp -d -p /dev/shm) || exit 1
trap 'rm -rf "$work" "$fast"' EXIT
while IFS='|' read -r name code; do
	printf 'import errno, mmap, os, signal, sys\nn = 0\ntry:\n%b\nexcept OSError as e: print(n > 2, errno.errorcode[e.errno], flush=True)\n' \
	    "$(sed 's/^/  /; s/\\n/\\n  /g' <<<"$code")" | answer fills.py
	(mkdir -p "$fast" && chmod 777 "$fast" && cd "$fast" && timeout $((20 * slow)) "${as_plain[@]}" \
	    $PY "$work/a/fills.py" >"$work/o" 2>"$work/e")
	rm -rf "$fast"
	is "$(cat "$work/o")" "" "control: outside so much is had: $name"
	run runs.sh fills.py --disk 16m -t $((5 * slow))
	gives "$zero" "$name"
	like "$(ask 'd["answers"][0]["stdout"].strip()')" \
	    "True (ENOSPC|EFBIG|ENOMEM|EDQUOT)" "$name: it is refused"
	"$B" exec --disk 16m -- sh -c \
	    'head -c 12m /dev/zero >f && touch a b c && echo fine' \
	    >"$work/o" 2>&1 </dev/null
	is "$(cat "$work/o")" fine "$name: the next run has its disk"
done <<'E'
one file|f = open("big", "wb", 0)\nfor i in range(64): f.write(bytes(1 << 20)); n += 1
many files|for i in range(64): open("f%d" % i, "wb").write(bytes(1 << 20)); n += 1
empty files|for i in range(9000): open("e%d" % i, "w").close(); n += 1
folders|for i in range(9000): os.mkdir("d%d" % i); n += 1
links|for i in range(9000): os.symlink("x" * 200, "l%d" % i); n += 1
hard links|open("f", "w").close()\nfor i in range(9000): os.link("f", "h%d" % i); n += 1
long names|for i in range(9000): open("%0250d" % i, "w").close(); n += 1
pipes|for i in range(9000): os.mkfifo("p%d" % i); n += 1
unlinked and open|k = []\nfor i in range(64):\n  f = open("u", "w+b", 0); os.unlink("u"); k.append(f); f.write(bytes(1 << 20)); n += 1
preallocated|n = 9; f = open("big", "wb"); os.posix_fallocate(f.fileno(), 0, 64 << 20)
at every MiB of a hole|f = open("big", "wb", 0)\nfor i in range(9000): f.seek(i << 12); f.write(b"x"); n += 1
E

printf 'import os, errno\ntry:\n  f = open("hole", "wb"); f.truncate(1 << 50); print("had", os.stat("hole").st_blocks)\nexcept OSError as e: print(errno.errorcode[e.errno])\n' |
    answer hole.py
run runs.sh hole.py --disk 16m
gives "$zero" "a file with a hole of a PiB"
like "$(ask 'd["answers"][0]["stdout"].strip()')" "had 0|EFBIG|EINVAL" \
    "and no block of it, or refused"

# Every folder that it may write to is of the same bounded size.
for where in /tmp /work /run /dev/shm /home/answer /var/tmp; do
	printf 'import errno\nn = 0\ntry:\n  f = open("%s/big", "wb", 0)\n  for i in range(64): f.write(bytes(1 << 20)); n += 1\nexcept OSError as e: print(n < 17, errno.errorcode[e.errno])\n' \
	    "$where" | answer fills.py
	run runs.sh fills.py --disk 16m
	is "$(ask 'd["answers"][0]["stdout"].strip()')" "True ENOSPC" "$where"
done
# all of them together, and the judge's own apart
printf 'import os\nn = 0\nfor d in ("/tmp", "/work", "/run", "/dev/shm", "/home/answer", "/var/tmp"):\n  try:\n    f = open(d + "/big", "wb", 0)\n    for i in range(64): f.write(bytes(1 << 20)); n += 1\n  except OSError: pass\nprint(n)\n' |
    answer fills.py
verifier own.sh <<'E'
#!/bin/sh
"$BAILIFF_ANSWER" -- python3 "$1" >out 2>&1
head -c 12m /dev/zero >mine || exit 3
printf '{"score": 0, "passed": false, "details": "%s"}\n' "$(cat out)"
E
run own.sh fills.py --disk 16m
gives "$zero" "all folders filled: the judge has its own disk"
[ "$(ask 'd["details"]')" -le 16 ]
ok $? "all folders together: $(ask 'd["details"]') MiB of 16"
run own.sh fills.py --disk 16m --artifacts "$work/got"
gives "$zero" "artifacts of a full cell"

printf 'import signal\nsignal.signal(25, signal.SIG_DFL)\nf = open("big", "wb", 0)\nfor i in range(64): f.write(bytes(1 << 20))\n' |
    answer fills.py
run runs.sh fills.py --fsize 2m
gives "$zero" "a file above --fsize"
like "$(facts limit signal)" "(None|disk) 25" "above --fsize: by its signal"
run runs.sh fills.py
is "$(facts exit_code)" 0 "control: without --fsize it has the file"

cat <<'E' | answer called.py
def add(a, b):
    if a < 0:
        for d in ("/tmp", "/work", "/run", "/dev/shm", "/home/answer"):
            try:
                f = open(d + "/big", "wb", 0)
                while True:
                    f.write(bytes(1 << 20))
            except OSError:
                pass
    return a + b
E
run "$usual" called.py --disk 16m
gives "$full" "a disk that was filled in a call, and right answers"
done_testing
