import os


def two_sum(nums, target):
    os.abort()
