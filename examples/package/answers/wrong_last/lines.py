def pairs(file):
    for line in file:
        if line.strip():
            yield line.split()
