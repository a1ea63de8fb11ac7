from decimal import Decimal


class Accounts:
    def __init__(self):
        self.amounts = {}

    def add(self, name, amount):
        self.amounts[name] = self.amounts.get(name, 0) + Decimal(amount)

    def sums(self):
        return sorted(self.amounts.items())
