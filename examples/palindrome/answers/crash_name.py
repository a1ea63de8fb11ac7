# The function has another name.
def palindrome(text):
    return text == text[::-1]
