#!/bin/bash
# arm64: Debian 12's own kernel, with the programs that are built for it here.
# A smoke test: the package as an administrator has it, the filter, the examples,
# and the cases about a cell's walls.  Left out, for they lean less on the architecture
# and an emulated processor is slow: the cases of the other groups, and what two
# users or a thousand cells do to each other.  C09 is about entries of x86-64.
. selftest/vm/run
plan alone 600 installed selftest/vm/steps/installed
plan alone 300 t-filter build/release/t-filter
plan alone 1500 examples selftest/vm/steps/examples "$VM"
groups C C09
boot 6.1-arm64
