def moved(c, shift):
    if "a" <= c <= "z":
        return chr((ord(c) - 97 + shift) % 26 + 97)
    if "A" <= c <= "Z":
        return chr((ord(c) - 65 + shift) % 26 + 65)
    return c


def caesar(text, shift=3, *, back=False):
    if not isinstance(text, str):
        raise TypeError("text must be a str")
    return "".join(moved(c, -shift if back else shift) for c in text)


def crack(secret, word):
    for shift in range(26):
        if word in caesar(secret, shift, back=True):
            return shift
    raise ValueError("no shift fits")
