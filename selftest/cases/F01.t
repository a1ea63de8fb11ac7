#!/bin/bash
# F01. Broken messages: on every socket, at every time, the end of what they
# came from, with a reason, within a second; and of nothing else.
. selftest/payload/setuid.sh

hostile F01
nothing_left "nothing is left of them"
done_testing
