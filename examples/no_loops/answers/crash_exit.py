import sys

sys.exit("this answer has no function")
