# Makes its arguments a hundred thousand lists deep, or parts of themselves.
def deep():
    value = []
    for _ in range(100000):
        value = [value]
    return value


def move_zeroes(nums):
    nums[:] = deep()


def count_words(words, counts):
    counts["deep"] = deep()
    counts["self"] = counts


def transpose(grid):
    grid.append(grid)
    grid[0] = grid
