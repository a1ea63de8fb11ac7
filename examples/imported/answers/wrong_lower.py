# Makes all letters small, and returns -1 instead of an error.
def caesar(text, shift=3, *, back=False):
    result = ""
    for c in text.lower():
        if c.isalpha() and c.isascii():
            c = chr((ord(c) - 97 + (-shift if back else shift)) % 26 + 97)
        result += c
    return result


def crack(secret, word):
    for shift in range(26):
        if word in caesar(secret, shift, back=True):
            return shift
    return -1
