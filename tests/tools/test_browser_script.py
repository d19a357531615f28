"""Tests `tools/browser.sh` on machines that have and lack its requirements. The test writes the packages of npm."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UNPACKS = """
mkdir -p "$2"
echo unpacked >> count
printf '' > "$2/chromium"
chmod +x "$2/chromium"
"""
INSTALLS = "mkdir -p tests/e2e/node_modules"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Creates a clone in a path with a space whose commands the test defines."""
    folder = tmp_path / "a clone"
    for path in ("tools/browser.sh", "tests/e2e/pnpm-lock.yaml", "tests/e2e/browser/unpack.mjs"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, folder / path)
    write_command(folder / "tools" / "web.sh", "exit 0")
    write_command(folder / ".tools" / "pnpm" / "node_modules" / ".bin" / "pnpm", INSTALLS)
    write_command(folder / "bin" / "uname", "echo Linux x86_64")
    write_command(folder / "bin" / "node", UNPACKS)
    return folder


def write_command(program: Path, script: str) -> None:
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def run(clone: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": f"{clone / 'bin'}:{os.environ['PATH']}"}
    command = [clone / "tools" / "browser.sh"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30, check=False)


def unpacked(clone: Path) -> int:
    return len((clone / "count").read_text().splitlines())


def test_a_browser_is_unpacked_once(clone: Path) -> None:
    assert [run(clone).returncode, run(clone).returncode] == [0, 0]
    assert unpacked(clone) == 1


def test_another_version_and_another_folder_are_unpacked_again(clone: Path) -> None:
    run(clone)
    with (clone / "tests/e2e/pnpm-lock.yaml").open("a") as lock:
        lock.write("# newer\n")
    run(clone)
    assert unpacked(clone) == 2
    moved = clone.rename(clone.with_name("another clone"))
    run(moved)
    assert unpacked(moved) == 3


@pytest.mark.parametrize(
    ("program", "script", "words"),
    [
        ("bin/uname", "echo Darwin arm64", "for Linux on x86-64 only"),
        (".tools/pnpm/node_modules/.bin/pnpm", "echo no route to host; exit 1", "no route to host"),
        ("bin/node", 'mkdir -p "$2"; echo the disk is full; exit 1', "the disk is full"),
    ],
)
def test_if_the_browser_is_unavailable_the_reason_is_printed_and_nothing_is_left(
    clone: Path, program: str, script: str, words: str
) -> None:
    write_command(clone / program, script)

    finished = run(clone)

    assert finished.returncode == 1
    assert words in finished.stderr
    assert len(finished.stderr.splitlines()) == 2
    assert not list((clone / ".tools").glob("browser*"))
