"""`python -m tools.rerun_failed` runs the tests that have just failed once more, alone.

Some thousand tests share two cores with the processes that they start, so a test that waits for a real process may miss
its deadline once. At most `MAX_TESTS` get a second chance, and those that need it are named: each is a defect to mend.
"""

import json
import subprocess
import sys
from pathlib import Path

MAX_TESTS = 3
"""More failures than this are not by chance."""
FAILED = Path(".pytest_cache/v/cache/lastfailed")


def main() -> int:
    names = sorted(json.loads(FAILED.read_text())) if FAILED.exists() else []
    if not 0 < len(names) <= MAX_TESTS:
        sys.stdout.write(f"{len(names)} tests failed; at most {MAX_TESTS} are run again\n")
        return 1
    listed = "".join(f"\n  {name}" for name in names)
    sys.stdout.write(f"run again, alone:{listed}\n")
    sys.stdout.flush()
    status = subprocess.run([sys.executable, "-m", "pytest", "-q", "-m", "", *names], check=False).returncode
    if status == 0:
        sys.stdout.write(f"UNRELIABLE, passed only at the second attempt:{listed}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
