class Solution:
    def __init__(self):
        self.stack.append(None)

    def isValid(self, s: str) -> bool:
        return True

    def longest(self, s: str) -> int:
        return 0
