def is_palindrome(text):
    return True
