"""Tests `tools/node_packages.sh` on machines with and without npm. The test writes the packages of npm."""

import shutil
import subprocess
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"
SCRIPT = TOOLS / "node_packages.sh"
NEEDED = ("sh", "rm", "mkdir", "mv", "cp", "cmp", "basename", "grep", "head", "tr", "touch")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Creates the only folder on the PATH, a system with the most basic commands only."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in NEEDED:
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    return folder


def add(machine: Path, name: str, script: str) -> None:
    (machine / name).write_text(f"#!/bin/sh\n{script}\n")
    (machine / name).chmod(0o755)


def run(machine: Path) -> subprocess.CompletedProcess[str]:
    command = ["/bin/sh", SCRIPT, TOOLS / "mcp_servers", machine.parent / "some servers"]
    return subprocess.run(command, env={"PATH": str(machine)}, capture_output=True, text=True, timeout=30, check=False)


def remaining_files(machine: Path) -> list[str]:
    return sorted(path.name for path in machine.parent.iterdir() if path != machine)


def test_the_locked_packages_are_installed_once(machine: Path) -> None:
    add(machine, "node", "exit 0")
    add(machine, "npm", 'touch "installed by $1"')
    assert run(machine).returncode == 0
    add(machine, "npm", "exit 1")

    finished = run(machine)

    assert (finished.returncode, remaining_files(machine)) == (0, ["some servers"])
    assert (machine.parent / "some servers" / "installed by ci").exists()


def test_a_changed_lock_file_is_installed_again(machine: Path) -> None:
    add(machine, "node", "exit 0")
    add(machine, "npm", "touch first")
    assert run(machine).returncode == 0
    (machine.parent / "some servers" / "package-lock.json").write_text("{}")
    add(machine, "npm", "touch second")
    assert run(machine).returncode == 0
    assert not (machine.parent / "some servers" / "first").exists()


def test_without_npm_the_remedy_is_printed(machine: Path) -> None:
    finished = run(machine)
    assert (finished.returncode, remaining_files(machine)) == (1, [])
    assert "there is no node with npm" in finished.stderr
    assert "apt-get install nodejs npm" in finished.stderr


def test_the_error_of_npm_is_printed_and_nothing_is_left(machine: Path) -> None:
    add(machine, "node", "exit 0")
    add(machine, "npm", "touch half; echo 'npm error network no way to the registry' >&2; exit 1")
    finished = run(machine)
    assert (finished.returncode, remaining_files(machine)) == (1, [])
    assert "npm says 'npm error network no way to the registry" in finished.stderr
    assert "npm config set registry" in finished.stderr
