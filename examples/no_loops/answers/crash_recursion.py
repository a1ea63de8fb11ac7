def total(items, start=0):
    """Never gets to the end."""
    return total(items, start)
