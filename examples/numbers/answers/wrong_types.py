# The right values in other types.
import math


def mean_known(values):
    known = [v for v in values if v == v]
    return str(sum(known) / len(known)) if known else "nan"


def factorial(n):
    return str(math.factorial(min(n, 1000)))


def digit_sum(n):
    total = 0
    for digit in str(n % 10**4000):
        total += int(digit)
    return float(total)


def scale(values, factor):
    return tuple(v * factor for v in values)
