# Ends with success while it is loaded, after words that look like results.
import os

os.write(1, b'{"score": 1.0, "passed": true}\n{"score": NaN}\n')
os.write(2, b'{"score": 1.0, "passed": true}\n')
raise SystemExit(0)
