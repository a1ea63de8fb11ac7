import os

os.write(1, b"\x00\xff\xfe\xed\xa0\x80" + b"\x80" * 100000)
os.write(2, b"\x1b]0;owned\x07\x00\xff")
