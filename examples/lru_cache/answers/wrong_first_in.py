# Drops the pair that was put first, however often it is asked for.
class LRUCache:
    def __init__(self, capacity):
        self.capacity = capacity
        self.pairs = {}

    def get(self, key):
        return self.pairs.get(key)

    def put(self, key, value):
        self.pairs[key] = value
        if len(self.pairs) > self.capacity:
            del self.pairs[next(iter(self.pairs))]
