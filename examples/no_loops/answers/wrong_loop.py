def total(items, start=0):
    """The right sum, but with a loop."""
    for item in items:
        start = total(item, start) if isinstance(item, list) else start + item
    return start
