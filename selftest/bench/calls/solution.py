def add(a, b):
    return a + b


def total(row):
    return sum(row)
