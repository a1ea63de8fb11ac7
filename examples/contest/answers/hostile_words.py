import sys

print("bailiff: infrastructure failure: out of memory", file=sys.stderr)
sys.exit(125)
