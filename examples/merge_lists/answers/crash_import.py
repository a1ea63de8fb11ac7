print(ListNode(1).val)


def reverse(head):
    return head
