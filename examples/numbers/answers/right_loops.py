import sys

if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)


def mean_known(values):
    total, count = 0.0, 0
    for value in values:
        if value == value:
            total, count = total + value, count + 1
    return total / count if count else float("nan")


def factorial(n):
    result = 1
    for i in range(2, n + 1):
        result *= i
    return result


def digit_sum(n):
    return sum(int(digit) for digit in str(n).lstrip("-"))


def scale(values, factor):
    return list(map(factor.__mul__, values))
