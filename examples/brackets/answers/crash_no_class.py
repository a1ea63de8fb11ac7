def isValid(s):
    return s == ""
