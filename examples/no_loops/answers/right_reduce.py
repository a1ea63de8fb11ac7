from functools import reduce


def add(amount, item):
    return total(item, amount) if isinstance(item, list) else amount + item


def total(items, start=0):
    """Adds each item; an item that is a list is added in the same way."""
    return reduce(add, items, start)
