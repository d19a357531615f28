"""Tests which failed tests get a second chance, and what it changes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.harness import ROOT

FAILS_ONCE = """
from pathlib import Path

def test_lucky():
    seen = Path("seen")
    was_there = seen.exists()
    seen.touch()
    assert was_there
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("tests", "status", "says"),
    [
        (FAILS_ONCE, 0, "UNRELIABLE, passed only at the second attempt:\n  test_some.py::test_lucky"),
        ("def test_broken():\n    assert False\n", 1, "run again, alone:\n  test_some.py::test_broken"),
        ("".join(f"def test_{number}():\n    assert False\n" for number in range(4)), 1, "4 tests failed"),
        ("import nonsense\n", 1, "run again"),
    ],
    ids=["failed once", "fails always", "many failed", "can't be imported"],
)
def test_only_a_few_failed_tests_are_run_again(tmp_path: Path, tests: str, status: int, says: str) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_some.py").write_text(tests)
    assert run(tmp_path, "pytest", "-q").returncode != 0
    rerun = run(tmp_path, "tools.rerun_failed")
    assert (bool(rerun.returncode), says in rerun.stdout) == (bool(status), True), rerun.stdout
