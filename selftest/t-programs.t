#!/bin/bash
# Ordinary programs do their ordinary work under the answer's filter.  RUN is
# what stands before a command; by default the filter alone.  Each program
# makes its files in a folder of its own, so that RUN may be another machine.
set -u

run=${RUN:-${BUILD:?}/filter_exec}
n=0

result() {	# result STATUS NAME
	n=$((n + 1))
	[ "$1" = 0 ] && echo "ok $n - $2" && return
	echo "not ok $n - $2"
	sed 's/^/# /' <<<"$out" | tail -n 20
}

# works NAME PROGRAM WANT SCRIPT: the last line that SCRIPT prints is WANT
works() {
	# shellcheck disable=SC2086 # RUN may be several words
	if ! $run sh -c "command -v $2" >/dev/null 2>&1; then
		n=$((n + 1))
		echo "ok $n - $1 # SKIP $2 is not installed"
		return
	fi
	out=$($run sh -c "d=\$(mktemp -d) && cd \"\$d\" || exit 1
trap 'rm -rf \"\$d\"' EXIT
$4" 2>&1 </dev/null)
	[ "$(tail -n 1 <<<"$out")" = "$3" ]
	result $? "$1"
}

# Without these two the rest would show nothing.
# shellcheck disable=SC2016 # for the inner shell
works 'a filter is loaded' grep 'Seccomp: 2' \
    'grep Seccomp: /proc/self/status | tr "\t" " "'
works 'and it refuses' unshare refused \
    'unshare -U true && echo done || echo refused'

works 'shell: pipes and jobs' sh 3 \
    '(sleep 0.1; echo a) & (echo b; echo c) | cat; wait; ls | wc -l; echo 3'
works 'files: copy, links, archive' tar done '
mkdir -p a/b && echo x >a/b/c && chmod 750 a && ln -s b a/l && ln a/b/c a/d &&
cp -a a e && tar cf t.tar a && mkdir f && tar xpf t.tar -C f &&
install -m 0755 a/d g && diff -r a f/a && touch -d yesterday g && echo done'

PY=python3
[ -x /usr/bin/python3 ] && PY=/usr/bin/python3
works 'CPython: threads' $PY '8 28' "$PY -c '
import threading, queue
q = queue.Queue()
t = [threading.Thread(target=q.put, args=(i,)) for i in range(8)]
[x.start() for x in t]
[x.join() for x in t]
print(q.qsize(), sum(q.queue))'"
for how in fork spawn forkserver; do
	works "CPython: multiprocessing by $how" $PY '[0, 1, 4, 9] 5' "
cat >m.py <<'END'
import multiprocessing as mp
from multiprocessing import shared_memory
def f(x):
    return x * x
def g(q, e):
    e.wait(); q.put(5)
if __name__ == '__main__':
    mp.set_start_method('$how')
    with mp.Pool(2) as p:
        r = p.map(f, range(4))
    q, e = mp.Queue(), mp.Event()
    p = mp.Process(target=g, args=(q, e)); p.start()
    e.set(); v = q.get(); p.join()
    s = shared_memory.SharedMemory(create=True, size=64)
    s.buf[0] = 1; s.close(); s.unlink()
    print(r, v)
END
$PY m.py"
done
works 'CPython: subprocess, asyncio, sockets' $PY 'b"x\n" b"hi"' "
cat >m.py <<'END'
import asyncio, subprocess, socket, tempfile, os
o = subprocess.run(['echo', 'x'], capture_output=True, check=True).stdout
async def main():
    async def serve(r, w):
        w.write(await r.read(2)); await w.drain(); w.close()
    with tempfile.TemporaryDirectory() as d:
        s = await asyncio.start_unix_server(serve, d + '/s')
        r, w = await asyncio.open_unix_connection(d + '/s')
        w.write(b'hi'); b = await r.read(2); w.close(); s.close()
    p = await asyncio.create_subprocess_exec('true')
    assert await p.wait() == 0
    return b
b = asyncio.run(main())
socket.getaddrinfo('127.0.0.1', 80)
with tempfile.TemporaryFile() as f:
    f.write(b'x'); os.fsync(f.fileno())
print(str([o, b])[1:-1].replace(\"'\", '\"').replace(',', ''))
END
$PY m.py"
works 'git: init, commit, clone, gc' git 'one 1' '
export HOME=$PWD GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b \
    GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git init -q r && cd r && echo x >f && git add f && git commit -qm one &&
git gc -q && cd .. && git clone -q r s && cd s && git fsck &&
echo $(git log --format=%s) $(git rev-list --count HEAD)'
works 'gcc: compile, link, threads' gcc 42 '
cat >m.c <<END
#include <pthread.h>
#include <stdio.h>
static void *f(void *p) { *(int *)p += 2; return p; }
int main(void)
{
	pthread_t t; int x = 40;
	pthread_create(&t, 0, f, &x); pthread_join(t, 0);
	printf("%d\n", x); return 0;
}
END
gcc -O2 -flto -pipe m.c -o m -lpthread && ./m'
works 'node: workers, children, files' node 'w5 c0 true' '
cat >m.js <<END
const { Worker, isMainThread, parentPort } = require("worker_threads");
const { spawn } = require("child_process");
const fs = require("fs");
if (!isMainThread) parentPort.postMessage(5);
else new Worker(__filename).on("message", v =>
  spawn("true").on("close", c => {
    fs.writeFileSync("x", "y");
    fs.promises.stat("x").then(s =>
      console.log("w" + v, "c" + c, s.size === 1));
  }));
END
node m.js'
works 'JVM: threads, collector, process' java '499500 0' '
cat >M.java <<END
import java.util.stream.*;
public class M {
  public static void main(String[] a) throws Exception {
    int s = IntStream.range(0, 1000).parallel().sum();
    byte[][] k = new byte[64][];
    for (int i = 0; i < 2000; i++) k[i % 64] = new byte[1 << 16];
    System.gc();
    System.out.println(s + " " + new ProcessBuilder("true").start().waitFor());
  }
}
END
java M.java'
works 'Go: build, goroutines, timers, process' go '4950 true' '
export HOME=$PWD GOCACHE=$PWD/.cache GOFLAGS=-mod=mod GOTOOLCHAIN=local CGO_ENABLED=0
cat >m.go <<END
package main
import ("fmt"; "os/exec"; "sync"; "time")
func main() {
	var w sync.WaitGroup; var m sync.Mutex; s := 0
	for i := 0; i < 100; i++ {
		w.Add(1)
		go func(i int) { time.Sleep(time.Millisecond); m.Lock(); s += i; m.Unlock(); w.Done() }(i)
	}
	w.Wait()
	fmt.Println(s, exec.Command("true").Run() == nil)
}
END
go run m.go'
echo "1..$n"
