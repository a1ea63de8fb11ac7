import os


def is_palindrome(text):
    os.abort()
