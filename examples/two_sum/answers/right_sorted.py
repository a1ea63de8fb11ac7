def two_sum(nums, target):
    print("prints are the answer's own business")
    order = sorted(range(len(nums)), key=nums.__getitem__)
    low, high = 0, len(order) - 1
    while low < high:
        total = nums[order[low]] + nums[order[high]]
        if total == target:
            return [order[high], order[low]]
        if total < target:
            low += 1
        else:
            high -= 1
    return []
