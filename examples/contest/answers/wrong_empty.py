# Allows the empty stretch, so that only negative numbers give 0.
input()
top = here = 0
for x in map(int, input().split()):
    here = max(0, here + x)
    top = max(top, here)
print(top)
