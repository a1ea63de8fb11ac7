import a_module_that_does_not_exist


def move_zeroes(nums):
    nums.sort()
