"""Installs podman with a small image, for the tests that run real containers."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[4]
FOLDER = ROOT / ".tools" / "podman"
IMAGE = "localhost/parlour-box-test"


def install_podman() -> Path:
    """Returns the folder of a program podman that has the image."""
    environment = {**os.environ, "PYTHON": sys.executable}
    script = [str(ROOT / "tools" / "podman.sh"), str(FOLDER)]
    finished = subprocess.run(script, env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return FOLDER.resolve() / "bin"


def podman(*arguments: str) -> str:
    command = [str(FOLDER / "bin" / "podman"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
