#!/bin/bash
# F04. Wrong kind of descriptor, in each place where one is due: refused by
# its type, within a second, and no more than that.
. selftest/payload/setuid.sh

hostile F04
nothing_left "nothing is left of them"
done_testing
