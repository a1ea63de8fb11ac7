def histogram(data):
    return {ord(c): 1 for c in data.decode("ascii") + 1}


def edges(names):
    return {names[0]}


def paint(points, color):
    return points.color
