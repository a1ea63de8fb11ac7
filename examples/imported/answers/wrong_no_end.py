# Forgets to go from the alphabet's end to its start; the wrong error.
def caesar(text, shift=3, *, back=False):
    assert isinstance(text, str)
    return "".join(chr(ord(c) + (-shift if back else shift))
                   if c.isascii() and c.isalpha() else c for c in text)


def crack(secret, word):
    return next(n for n in range(26) if word in caesar(secret, n, back=True))
