import sys

while True:
    sys.stdout.write("y\n" * 32768)
