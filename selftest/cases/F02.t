#!/bin/bash
# F02. Wrong number of descriptors: none of them is used, all are closed.
. selftest/payload/setuid.sh

hostile F02
nothing_left "nothing is left of them"
done_testing
