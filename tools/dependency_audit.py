"""Looks up known vulnerabilities of the locked packages: `python -m tools.dependency_audit`.

Without a network nothing can be looked up, which is said and is no failure.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
UV = ROOT / ".tools" / "bin" / "uv"
SECONDS = 30
UNREACHABLE = ("dns error", "error sending request", "Request failed", "timed out", "client error")


def main() -> int:
    command = [UV, "audit", "--frozen", "--no-dev", "--preview-features", "audit-command"]
    environment = {**os.environ, "UV_HTTP_RETRIES": "0"}
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return _not_looked_up("no answer in time")
    if done.returncode and any(sign in done.stderr for sign in UNREACHABLE):
        return _not_looked_up("the database of vulnerabilities is not reachable")
    if done.returncode:
        print(done.stdout + done.stderr, file=sys.stderr)
    return done.returncode


def _not_looked_up(reason: str) -> int:
    print(f"known vulnerabilities were not looked up: {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
