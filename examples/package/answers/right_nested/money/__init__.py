def cents(amount):
    return int(amount.replace(".", ""))


def text(amount):
    whole, part = divmod(abs(amount), 100)
    return f"{'-' if amount < 0 else ''}{whole}.{part:02}"
