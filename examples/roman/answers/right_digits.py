ONES = ["", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"]
STEPS = [dict(zip("IVX", "XLC")), dict(zip("IVX", "CDM")), {"I": "M"}]


def to_roman(n):
    n, digit = divmod(n, 10)
    letters = ONES[digit]
    for step in STEPS:
        n, digit = divmod(n, 10)
        letters = "".join(step[sign] for sign in ONES[digit]) + letters
    return letters
