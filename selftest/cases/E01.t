#!/bin/bash
# E01. Arguments of any number and length are hostile: the helper takes none,
# and looks at no more of them than how many there are.
. selftest/payload/setuid.sh

hostile E01

# The client's arguments are its caller's own; they end it in good order.
as $ALICE "$C" >"$work/out" 2>"$work/err"
is $? 64 "the client without a word"
as $ALICE perl -e 'exec { $ARGV[0] } "x"' "$C" >"$work/out" 2>"$work/err"
is $? 64 "with another name"
as $ALICE perl -e 'exec { $ARGV[0] } "bailiff", ("x") x 100_000' "$C" \
    >"$work/out" 2>"$work/err"
is $? 64 "with 100,000 words"
as $ALICE perl -e 'exec { $ARGV[0] } "x" x 100_000, "exec", "--", "sh", "-c",
    "exit 7"' "$C" >"$work/out" 2>"$work/err"
is $? 7 "with a name of 100 KiB: a normal run"
as $ALICE perl -e 'exec $ARGV[0], "exec", "--", "sh", "-c", "exit 7",
    ("x") x 100_000' "$C" >"$work/out" 2>"$work/err"
like $? '7|125' "a program with 100,000 words: run, or too many for a cell"
as $ALICE perl -e 'exec $ARGV[0], "exec", "--", "sh", "-c", "exit 7",
    ("x") x 4000' "$C" >"$work/out" 2>"$work/err"
is $? 7 "a program with 4,000 words: run"
as $ALICE perl -e 'exec $ARGV[0], "exec", "--json", "--", "sh", "-c",
    "exit 7 # \xff\xfe\x01\n", ""' "$C" >"$work/out" 2>"$work/err"
is "$? $(ask 'd["argv"][-1]')" "7 " "words that are no text, and an empty one"
nothing_left "nothing is left"
done_testing
