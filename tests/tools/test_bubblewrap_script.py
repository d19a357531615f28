"""Tests `tools/bubblewrap.sh` on machines with and without bubblewrap. The test writes the package
that apt would fetch.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "bubblewrap.sh"
NEEDED = ("sh", "uname", "rm", "mkdir", "mv", "cat", "chmod", "touch", "true")
WORKS = "exit 0"
WITHOUT_LISTS = """
case "$*" in *"Dir::State::lists="*) ;; *) exit 100 ;; esac
case "$*" in *download*) touch bubblewrap_0.8.0_all.deb ;; esac
"""
"""An apt-get that finds the package only in lists that are kept in another folder."""
UNPACKED = """
mkdir -p "$3/usr/bin"
printf '#!/bin/sh\\nexit 0\\n' > "$3/usr/bin/bwrap"
chmod +x "$3/usr/bin/bwrap"
"""


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
    command = ["/bin/sh", SCRIPT, machine.parent / "some tools"]
    return subprocess.run(command, env={"PATH": str(machine)}, capture_output=True, text=True, timeout=30, check=False)


def remaining_files(machine: Path) -> list[str]:
    return sorted(path.name for path in machine.parent.iterdir() if path != machine)


def test_a_working_bubblewrap_is_left_as_it_is(machine: Path) -> None:
    add(machine, "bwrap", WORKS)

    assert (run(machine).returncode, remaining_files(machine)) == (0, [])


def test_without_bubblewrap_the_package_is_fetched_with_own_lists_and_unpacked(machine: Path) -> None:
    add(machine, "apt-get", WITHOUT_LISTS)
    add(machine, "dpkg-deb", UNPACKED)

    finished = run(machine)

    assert (finished.returncode, finished.stderr, remaining_files(machine)) == (0, "", ["some tools"])
    assert [path.name for path in (machine.parent / "some tools").iterdir()] == ["usr"]


def test_an_unpacked_package_is_not_fetched_again(machine: Path) -> None:
    add(machine, "apt-get", WITHOUT_LISTS)
    add(machine, "dpkg-deb", UNPACKED)
    assert run(machine).returncode == 0
    add(machine, "apt-get", "exit 100")

    assert run(machine).returncode == 0


@pytest.mark.parametrize(
    ("programs", "words"),
    [
        ({}, "no apt to fetch it with"),
        ({"apt-get": "exit 100", "dpkg-deb": UNPACKED}, "its package can't be fetched"),
        ({"apt-get": WITHOUT_LISTS, "dpkg-deb": "exit 2"}, "its package can't be unpacked"),
        ({"bwrap": "echo bwrap: Unknown option --disable-userns; exit 1"}, "is too old"),
    ],
)
def test_if_bubblewrap_is_unavailable_the_remedy_is_printed_and_nothing_is_left(
    machine: Path, programs: dict[str, str], words: str
) -> None:
    for name, script in programs.items():
        add(machine, name, script)

    finished = run(machine)

    assert finished.returncode == 1
    assert words in finished.stderr
    assert "apt-get install bubblewrap" in finished.stderr
    assert remaining_files(machine) == []


def test_if_namespaces_are_forbidden_the_setting_that_helps_is_named(machine: Path) -> None:
    add(machine, "bwrap", "echo 'bwrap: No permissions to create new namespace'; exit 1")

    finished = run(machine)

    assert finished.returncode == 1
    assert "No permissions to create new namespace" in finished.stderr
    assert "docs/operate/security.md" in finished.stderr
