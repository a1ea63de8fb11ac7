# Only counts brackets.
class Solution:
    def isValid(self, s: str) -> bool:
        return all(s.count(a) == s.count(b) for a, b in ("()", "[]", "{}"))

    def longest(self, s: str) -> int:
        return 2 * sum(min(s.count(a), s.count(b))
                       for a, b in ("()", "[]", "{}"))
