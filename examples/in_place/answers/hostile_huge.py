# Makes its arguments huge.
def move_zeroes(nums):
    nums[:] = [0] * (10 * 1000 * 1000)


def count_words(words, counts):
    counts["x" * (64 << 20)] = "y" * (64 << 20)


def transpose(grid):
    grid[0] = ["z" * 1000] * (1000 * 1000)
