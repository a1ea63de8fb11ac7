#!/bin/bash
# Ordinary programs do their ordinary work in a cell: selftest/t-programs.t,
# whole, with the default limits, view, user and filter of bailiff exec.
set -u

B=$(realpath "${BUILD:-build/release}")/bailiff
export XDG_CONFIG_HOME=/nonexistent
unset DAYTONA_API_KEY
if ! why=$("$B" exec -- /bin/true 2>&1); then
	echo "1..0 # SKIP no cells here: ${why%%$'\n'*}"
	exit 0
fi
# Only the time is another: some of them compile, on a machine that may be busy.
# Both streams go into one pipe in the cell: there, their order is kept.
one=$(mktemp) || exit 1
trap 'rm -f "$one"' EXIT
echo 'exec "$@" 2>&1' >"$one"
RUN="$B exec -t 120 --put $one:one -- sh one" selftest/t-programs.t
