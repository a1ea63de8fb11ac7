# Returns integers of millions of digits, endless lists and huge texts.
class Endless(list):
    def __len__(self):
        return 4

    def __iter__(self):
        while True:
            yield self


def mean_known(values):
    return "1" * (128 << 20)


def factorial(n):
    return -1 << (100 * 1000 * 1000)


def digit_sum(n):
    return [[[]] * 1000] * 100000


def scale(values, factor):
    return Endless()
