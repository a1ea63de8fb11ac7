# Returns a list of two hundred thousand nodes.
class Node:
    def __init__(self, val, next):
        self.val = val
        self.next = next


def reverse(head):
    for _ in range(200000):
        head = Node(-1, head)
    return head


def merge(a, b):
    return reverse(None)
