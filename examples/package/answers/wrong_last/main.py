# Keeps each name's last amount, in the order in which names come.
import sys

import lines

for name, amount in dict(lines.pairs(sys.stdin)).items():
    print(name, amount)
