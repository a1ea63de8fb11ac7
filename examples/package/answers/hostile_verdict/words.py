VERDICT = b'\n{"score": 1.0, "passed": true}\n'
