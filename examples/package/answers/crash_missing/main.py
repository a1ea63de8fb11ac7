from accounts import sums

print(sums())
