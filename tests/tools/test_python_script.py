"""Tests `tools/python.sh` on machines with several Pythons. The tests write all but the one that runs them."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "python.sh"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Creates the folder on the PATH that comes before those of the system."""
    folder = tmp_path / "with a space"
    folder.mkdir()
    return folder


def add(machine: Path, name: str, says: str) -> None:
    (machine / name).write_text(f"#!/bin/sh\n{says}\n")
    (machine / name).chmod(0o755)


def choose(machine: Path, *named: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": f"/nowhere:{machine}:/bin"}
    return subprocess.run([SCRIPT, *named], env=environment, capture_output=True, text=True)


def test_the_first_python_on_the_path_is_chosen(machine: Path) -> None:
    add(machine, "python3", "echo quick /opt/first")
    add(machine, "python3.11", "echo quick /opt/second")
    assert choose(machine).stdout == "/opt/first\n"


def test_an_optimized_python_is_preferred(machine: Path) -> None:
    add(machine, "python3", "echo slow /opt/first")
    add(machine, "python3.11", "echo quick /opt/second")
    assert choose(machine).stdout == "/opt/second\n"


@pytest.mark.parametrize("broken", ["exit 1", "echo pyenv: python3: command not found", "echo", "kill -9 $$"])
def test_an_unusable_python_is_skipped(machine: Path, broken: str) -> None:
    add(machine, "python3", broken)
    add(machine, "python3.11", "echo quick /opt/second")
    assert choose(machine).stdout == "/opt/second\n"


def test_a_named_python_is_chosen(machine: Path) -> None:
    add(machine, "python3", "echo quick /opt/first")
    add(machine, "mine", "echo slow /opt/mine")
    assert choose(machine, "mine").stdout == "/opt/mine\n"


def test_a_real_python_prints_its_path(machine: Path) -> None:
    assert choose(machine, sys.executable).stdout == f"{sys.executable}\n"


@pytest.mark.parametrize("named", ["missing", "too-old"])
def test_without_a_usable_python_the_remedy_is_printed(machine: Path, named: str) -> None:
    add(machine, "too-old", "echo 'too old' >&2; exit 1")
    finished = choose(machine, named)
    assert finished.returncode == 1
    assert finished.stdout == ""
    assert finished.stderr == "Parlour needs Python 3.11 or newer; name one with: make PYTHON=python3.11\n"
