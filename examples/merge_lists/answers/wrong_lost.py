# Keeps only the first node of what it turns round; drops the rest of a merge.
def reverse(head):
    if head is not None:
        head.next = None
    return head


def merge(a, b):
    if a is None or (b is not None and b.val < a.val):
        a, b = b, a
    if a is not None:
        a.next = merge(a.next, b) if a.next is not None else None
    return a
