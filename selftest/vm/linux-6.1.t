#!/bin/bash
# Debian 12's own kernel, the oldest that has all that bailiff needs.
. selftest/vm/run
steps CF examples
boot 6.1-amd64
