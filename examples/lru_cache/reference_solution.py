from collections import OrderedDict


class LRUCache:
    def __init__(self, capacity):
        self.capacity = capacity
        self.pairs = OrderedDict()

    def get(self, key):
        if key not in self.pairs:
            return None
        self.pairs.move_to_end(key)
        return self.pairs[key]

    def put(self, key, value):
        self.pairs[key] = value
        self.pairs.move_to_end(key)
        if len(self.pairs) > self.capacity:
            self.pairs.popitem(last=False)
