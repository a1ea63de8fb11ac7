def two_sum(nums, target):
    for a in nums:
        if target - a in nums:
            return [a, target - a]
    return None
