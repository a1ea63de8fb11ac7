# Does whole numbers as floats; takes nan for 0; loses the sign of 0.
def mean_known(values):
    values = [v if v == v else 0.0 for v in values]
    return sum(values) / len(values)


def factorial(n):
    result = 1.0
    for i in range(2, n + 1):
        result *= i
    return int(result)


def digit_sum(n):
    return sum(map(int, str(n)))


def scale(values, factor):
    return [v * factor + 0.0 for v in values]
