from string import small_letters


def caesar(text, shift=3, *, back=False):
    return text
