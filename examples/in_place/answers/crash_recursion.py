def move_zeroes(nums):
    return move_zeroes(nums)


def count_words(words, counts):
    count_words(words, counts)


def transpose(grid):
    grid.append(transpose(grid))
