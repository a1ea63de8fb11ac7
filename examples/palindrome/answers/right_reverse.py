def is_palindrome(text):
    kept = [c.lower() for c in text if c.isalnum()]
    print("compares", len(kept), "characters")
    return kept == kept[::-1]
