#!/bin/bash
# run.sh ROUNDS - what `make bench` prints: bailiff beside its peers, and as
# root beside what this kernel can do at all.
set -eu

rounds=${1:-100}
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
bailiff=$top/${BUILD:-build/release}/bailiff
main='=vfork+exec,=fork+exec,=net+lo(ioctl),=pid+mnt+view(template),=full'
main+=',=full/template,=full+init,=full+init/template,=pool:cell,=pool:zygote'

echo "== peers (median wall time of /bin/true, $rounds rounds)"
"$here/peers.sh" -n "$rounds" -- "$bailiff" exec -- /bin/true
echo
echo "== calls of an answer's function through its stand-in, 10,000"
for _ in 1 2 3; do
	"$bailiff" run --judge "$here/calls/verifier.py" \
	    --answer "$here/calls/solution.py" | tail -n 1
done
echo
if [ "$(id -u)" = 0 ]; then
	echo "== floor (what this kernel needs for each part)"
	"$top/build/bench/floor" -n "$rounds" -q -l "$main"
else
	echo "floor: skipped, needs root" >&2
fi
