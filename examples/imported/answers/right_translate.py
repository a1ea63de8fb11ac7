from string import ascii_lowercase as small

CAPITAL = small.upper()


class NoShift(ValueError):
    pass


def caesar(text, shift=3, *, back=False):
    n = (-shift if back else shift) % 26
    table = str.maketrans(small + CAPITAL, small[n:] + small[:n]
                          + CAPITAL[n:] + CAPITAL[:n])
    return str.translate(text, table)


def crack(secret, word):
    shifts = [n for n in range(26) if word in caesar(secret, n, back=True)]
    if not shifts:
        raise NoShift(word)
    return shifts[0]
