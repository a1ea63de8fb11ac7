from collections import Counter
from itertools import combinations


def histogram(data):
    return dict(Counter(data))


def edges(names):
    return set(combinations(sorted(names), 2))


def paint(points, color=(0, 0, 0)):
    return dict.fromkeys(points, color)


if __name__ == "__main__":
    raise RuntimeError("this is a module, not a program")
