def reverse(head):
    return reverse(head)


def merge(a, b):
    return merge(b, a)
