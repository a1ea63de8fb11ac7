# Knows no short forms: 4 becomes IIII.
def to_roman(n):
    letters = ""
    for value, sign in zip((1000, 500, 100, 50, 10, 5, 1), "MDCLXVI"):
        letters += sign * (n // value)
        n %= value
    return letters
