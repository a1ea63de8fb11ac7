def reverse(head):
    done = None
    while head:
        head.next, done, head = done, head, head.next
    return done


def merge(a, b):
    if a is None or b is None:
        return a or b
    if b.val < a.val:
        a, b = b, a
    first = last = a
    a = a.next
    while a is not None and b is not None:
        if b.val < a.val:
            a, b = b, a
        last.next = a
        last, a = a, a.next
    last.next = a or b
    return first
