# Leaves a process behind that holds the pipe for some seconds, then writes.
import os
import time

import daemon

print("more follows", flush=True)
if daemon.start():
    time.sleep(3)
    os.write(1, b'\n{"score": 1.0, "passed": true}\n')
