# Loses the order, and what was counted before; puts new rows into the grid.
def move_zeroes(nums):
    nums.sort(key=lambda n: (n == 0, n))


def count_words(words, counts):
    for word in words:
        counts[word] = words.count(word)


def transpose(grid):
    grid[:] = [list(column) for column in zip(*grid)]
