#!/bin/bash
# F04. Wrong kind of descriptor, in each place where one is due: refused by
# its type, within a second, and no more than that.
. selftest/payload/setuid.sh

known 'nor does the helper, for one as a folder' 'a FUSE server of the caller holds up its own helper: SECURITY.md, residual risks'
known 'mounted by root: refused within' 'the same'
known 'open to everybody: refused within' 'the same'
known 'and cell init does not wait for' 'closing what lingers: SECURITY.md, residual risks'

hostile F04
nothing_left "nothing is left of them"
done_testing
