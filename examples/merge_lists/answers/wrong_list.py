# Reverses rightly, but merges into a Python list.
def reverse(head):
    done = None
    while head:
        head.next, done, head = done, head, head.next
    return done


def merge(a, b):
    values = []
    for node in (a, b):
        while node:
            values.append(node.val)
            node = node.next
    return sorted(values)
