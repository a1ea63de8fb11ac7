def total(items, start=1):
    # Leaves out what is in inner lists; another default, no docstring.
    return sum(filter(lambda item: isinstance(item, int), items), start)
