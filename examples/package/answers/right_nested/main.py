import sys

from money import cents, text
from money.book import Book

book = Book()
for line in sys.stdin.read().splitlines():
    if line:
        name, _, amount = line.partition(" ")
        book[name] += cents(amount)
print("\n".join(f"{name} {text(book[name])}" for name in sorted(book)))
