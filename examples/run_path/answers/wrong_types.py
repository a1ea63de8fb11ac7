# Lists where tuples are asked for, and keys that are texts.
def histogram(data):
    return {str(byte): data.count(byte) for byte in data}


def edges(names):
    return [(a, b) for a in names for b in names if a < b]


def paint(points, color=(0, 0, 0)):
    return {point: list(color) for point in points}
