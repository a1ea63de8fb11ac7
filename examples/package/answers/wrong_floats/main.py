# Adds floats: large amounts lose their cents, and 0 may become -0.
import sys

from sums import sums

for name, amount in sorted(sums(sys.stdin).items()):
    print(name, amount)
