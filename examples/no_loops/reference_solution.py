def total(items, start=0):
    """The sum of all numbers in nested lists."""
    if not items:
        return start
    first, *rest = items
    if isinstance(first, list):
        return total(rest, total(first, start))
    return total(rest, start + first)
