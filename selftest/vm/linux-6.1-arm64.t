#!/bin/bash
# arm64: Debian 12's own kernel, with the programs that are built for it here.
. selftest/vm/run
plan alone 600 installed selftest/vm/steps/installed
plan alone 1500 examples selftest/vm/steps/examples "${VM:-some}"
groups C C09		# C09 tries the entries of x86-64
boot 6.1-arm64
