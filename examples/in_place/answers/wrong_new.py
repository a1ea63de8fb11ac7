# Returns new values, and changes nothing.
def move_zeroes(nums):
    return [n for n in nums if n] + [0] * nums.count(0)


def count_words(words, counts):
    return {w: counts.get(w, 0) + words.count(w) for w in [*counts, *words]}


def transpose(grid):
    return [list(column) for column in zip(*grid)]
