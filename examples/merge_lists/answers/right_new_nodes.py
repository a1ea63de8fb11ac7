class ListNode:
    def __init__(self, val=0, next=None):
        self.val = val
        self.next = next


def values(node):
    while node:
        yield node.val
        node = node.next


def from_values(descending):
    head = None
    for value in descending:
        head = ListNode(value, head)
    return head


def reverse(head):
    return from_values(values(head))


def merge(a, b):
    return from_values(sorted([*values(a), *values(b)], reverse=True))
