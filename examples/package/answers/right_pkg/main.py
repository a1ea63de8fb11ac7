import sys

from accounts import Accounts

accounts = Accounts()
for line in sys.stdin:
    if line.strip():
        name, amount = line.split()
        accounts.add(name, amount)
for name, amount in accounts.sums():
    print(name, amount)
