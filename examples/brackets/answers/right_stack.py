class Solution:
    PAIRS = {")": "(", "]": "[", "}": "{"}

    def isValid(self, s: str) -> bool:
        return self.longest(s) == len(s)

    def longest(self, s: str) -> int:
        best, open_places = 0, [-1]
        for i, c in enumerate(s):
            last = open_places[-1]
            if c in self.PAIRS and last >= 0 and s[last] == self.PAIRS[c]:
                open_places.pop()
                best = max(best, i - open_places[-1])
            else:
                open_places.append(i)
        return best
