class LRUCache:
    def __init__(self, capacity):
        self.pairs = {}

    def get(self, key):
        while key not in self.pairs:
            pass
        return self.pairs[key]

    def put(self, key, value):
        while True:
            pass
