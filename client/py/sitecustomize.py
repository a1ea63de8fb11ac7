"""Python reads this in every program that a verifier starts."""

import os
import sys

if os.environ.get("BAILIFF_SOLUTION") and os.environ.get("BAILIFF_ANSWER"):
    try:
        import runner
        del sys.modules["runner"]   # the name is the program's own again
        runner.child(os.environ["BAILIFF_SOLUTION"])
    except BaseException as e:      # site.py would go on without it
        os.write(2, f"bailiff: no guard: {e!r}\n".encode("utf-8", "replace"))
        os._exit(2)
