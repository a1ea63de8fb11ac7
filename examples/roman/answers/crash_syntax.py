def to_roman(n):
return "I" * n
