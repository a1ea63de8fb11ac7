import itertools


class LRUCache:
    __slots__ = ("capacity", "clock", "values", "used")

    def __init__(self, capacity):
        self.capacity = capacity
        self.clock = itertools.count()
        self.values = {}
        self.used = {}

    def get(self, key):
        if key in self.values:
            self.used[key] = next(self.clock)
        return self.values.get(key)

    def put(self, key, value):
        self.values[key] = value
        self.used[key] = next(self.clock)
        if len(self.values) > self.capacity:
            oldest = min(self.used, key=self.used.get)
            del self.values[oldest], self.used[oldest]
