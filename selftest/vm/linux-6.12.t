#!/bin/bash
# The kernel that Debian 12 has for newer machines, and Debian 13 for all.
. selftest/vm/run
steps CE
boot 6.12-amd64
