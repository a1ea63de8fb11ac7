# Returns lists without an end: a circle, and nodes made as they are asked for.
class Node:
    def __init__(self, val, next):
        self.val = val
        self.next = next


class Endless:
    @property
    def val(self):
        return 0

    @property
    def next(self):
        return self


def reverse(head):
    node = Node(-1, None)
    node.next = node
    return node


def merge(a, b):
    return Endless()
