from collections import defaultdict


class Book(defaultdict):
    def __init__(self):
        super().__init__(int)
