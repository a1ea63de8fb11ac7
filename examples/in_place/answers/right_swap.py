def move_zeroes(nums):
    place = 0
    for i, n in enumerate(nums):
        if n != 0:
            nums[place], nums[i] = nums[i], nums[place]
            place += 1


def count_words(words, counts):
    for word in words:
        counts[word] = counts.get(word, 0) + 1


def transpose(grid):
    for i in range(len(grid)):
        for j in range(i):
            grid[i][j], grid[j][i] = grid[j][i], grid[i][j]
