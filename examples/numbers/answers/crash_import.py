LARGEST = int("9" * 10000 + "!")


def factorial(n):
    return LARGEST
