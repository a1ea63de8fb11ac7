"""Python reads this in every program that a verifier starts."""

import os
import sys

if os.environ.get("BAILIFF_SOLUTION") and os.environ.get("BAILIFF_ANSWER"):
    import runner
    del sys.modules["runner"]   # the name is the program's own again
    runner.child(os.environ["BAILIFF_SOLUTION"])
