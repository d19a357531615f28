"""`tools/python.sh` on machines with several Pythons. All but the one that runs the tests are written by them."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "python.sh"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """The folder on its PATH that has more than nothing and comes before the system's."""
    folder = tmp_path / "with a space"
    folder.mkdir()
    return folder


def add(machine: Path, name: str, says: str) -> None:
    (machine / name).write_text(f"#!/bin/sh\n{says}\n")
    (machine / name).chmod(0o755)


def choose(machine: Path, *named: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": f"/nowhere:{machine}:/bin"}
    return subprocess.run([SCRIPT, *named], env=environment, capture_output=True, text=True)


def test_the_first_on_the_path_is_taken(machine: Path) -> None:
    add(machine, "python3", "echo quick /opt/first")
    add(machine, "python3.11", "echo quick /opt/second")
    assert choose(machine).stdout == "/opt/first\n"


def test_one_that_was_compiled_to_be_quick_goes_before_one_that_was_not(machine: Path) -> None:
    add(machine, "python3", "echo slow /opt/first")
    add(machine, "python3.11", "echo quick /opt/second")
    assert choose(machine).stdout == "/opt/second\n"


@pytest.mark.parametrize("broken", ["exit 1", "echo pyenv: python3: command not found", "echo", "kill -9 $$"])
def test_one_that_can_not_be_used_is_passed_over(machine: Path, broken: str) -> None:
    add(machine, "python3", broken)
    add(machine, "python3.11", "echo quick /opt/second")
    assert choose(machine).stdout == "/opt/second\n"


def test_who_names_one_gets_it(machine: Path) -> None:
    add(machine, "python3", "echo quick /opt/first")
    add(machine, "mine", "echo slow /opt/mine")
    assert choose(machine, "mine").stdout == "/opt/mine\n"


def test_a_real_one_tells_where_it_is(machine: Path) -> None:
    assert choose(machine, sys.executable).stdout == f"{sys.executable}\n"


@pytest.mark.parametrize("named", ["missing", "too-old"])
def test_without_a_usable_one_it_is_said_what_to_do(machine: Path, named: str) -> None:
    add(machine, "too-old", "echo 'too old' >&2; exit 1")
    finished = choose(machine, named)
    assert finished.returncode == 1
    assert finished.stdout == ""
    assert finished.stderr == "Parlour needs Python 3.11 or newer; name one with: make PYTHON=python3.11\n"
