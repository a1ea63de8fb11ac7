import sys


def best(numbers):
    top = here = numbers[0]
    for n in numbers[1:]:
        here = max(n, here + n)
        top = max(top, here)
    return top


words = sys.stdin.read().split()
print(best([int(w) for w in words[1:int(words[0]) + 1]]))
