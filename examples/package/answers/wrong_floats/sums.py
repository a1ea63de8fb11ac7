def sums(lines):
    result = {}
    for line in lines:
        if line.strip():
            name, amount = line.split()
            result[name] = result.get(name, 0.0) + float(amount)
    return result
