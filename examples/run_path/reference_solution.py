def histogram(data):
    counts = {}
    for byte in data:
        counts[byte] = counts.get(byte, 0) + 1
    return counts


def edges(names):
    return {(a, b) for a in names for b in names if a < b}


def paint(points, color=(0, 0, 0)):
    return {point: color for point in points}
