class Base:
    def __init__(self, kinds="()[]{}"):
        self.close = dict(zip(kinds[1::2], kinds[::2]))

    @staticmethod
    def top(lengths):
        return max(lengths, default=0)


class Solution(Base):
    def isValid(self, s: str) -> bool:
        stack = []
        for c in s:
            if c not in self.close:
                stack.append(c)
            elif not stack or stack.pop() != self.close[c]:
                return False
        return not stack

    def longest(self, s: str) -> int:
        # lengths[i]: of the longest valid stretch that ends before i.
        lengths = [0]
        for i, c in enumerate(s):
            start = i - 1 - lengths[i]
            if c in self.close and start >= 0 and s[start] == self.close[c]:
                lengths.append(i + 1 - start + lengths[start])
            else:
                lengths.append(0)
        return self.top(lengths)
