class Solution:
    def isValid(self, s: str) -> bool:
        while any(pair in s for pair in ("()", "[]", "{}")):
            s = s.replace("()", "").replace("[]", "").replace("{}", "")
        return s == ""

    def longest(self, s: str) -> int:
        return len(s) if self.isValid(s) else 0
