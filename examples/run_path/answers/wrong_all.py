# Pairs in both directions; always black; also counts bytes that are missing.
def histogram(data):
    return {byte: data.count(byte) for byte in range(256)}


def edges(names):
    return {(a, b) for a in names for b in names}


def paint(points, color=(0, 0, 0)):
    return dict.fromkeys(points, (0, 0, 0))
