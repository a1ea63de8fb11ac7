n = int(input())
numbers = list(map(int, input().split()))[:n]
lowest, total, top = 0, 0, None
for x in numbers:
    total += x
    top = total - lowest if top is None else max(top, total - lowest)
    lowest = min(lowest, total)
print()
print(" ", top)
