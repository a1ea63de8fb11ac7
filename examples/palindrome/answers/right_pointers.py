def is_palindrome(text):
    low, high = 0, len(text) - 1
    while low < high:
        if not text[low].isalnum():
            low += 1
        elif not text[high].isalnum():
            high -= 1
        elif text[low].lower() != text[high].lower():
            return False
        else:
            low += 1
            high -= 1
    return True
