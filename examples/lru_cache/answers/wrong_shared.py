# All caches share one dict, and the pair that was put first is dropped.
class LRUCache:
    pairs = {}

    def __init__(self, capacity):
        self.capacity = capacity

    def get(self, key):
        return self.pairs.get(key)

    def put(self, key, value):
        self.pairs[key] = value
        if len(self.pairs) > self.capacity:
            del self.pairs[next(iter(self.pairs))]
