import math


def mean_known(values):
    known = [v for v in values if not math.isnan(v)]
    return sum(known) / len(known) if known else math.nan


def factorial(n):
    return math.factorial(n)


def digit_sum(n):
    n, total = abs(n), 0
    while n:
        n, digit = divmod(n, 10)
        total += digit
    return total


def scale(values, factor):
    return [v * factor for v in values]
