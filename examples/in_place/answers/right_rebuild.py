from collections import Counter


def move_zeroes(nums):
    kept = [n for n in nums if n]
    nums[:] = kept + [0] * (len(nums) - len(kept))


def count_words(words, counts):
    counts.update(Counter(words) + Counter(counts) if words else {})


def transpose(grid):
    columns = [list(column) for column in zip(*grid)]
    for row, column in zip(grid, columns):
        row[:] = column
