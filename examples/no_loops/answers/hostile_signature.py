# A callable object that lies about its signature, its source and its results.
import inspect


class Number(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__
    __class__ = int


class Total:
    """A docstring."""

    def __init__(self):
        self.__wrapped__ = self

    @property
    def __signature__(self):
        name = inspect.Parameter
        return inspect.Signature([
            name("items", name.POSITIONAL_OR_KEYWORD),
            name("start", name.POSITIONAL_OR_KEYWORD, default=Number())])

    def __call__(self, items, start=0):
        return Number(-99)


total = Total()
