"""Tests `tools/synapse.sh` with a uv of the test. The tests of Matrix use what the real one installs."""

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "synapse.sh"
MAKES_PLACE = 'eval place=\\"\\${$#}\\"; mkdir -p "$place/bin"; cp "$SYNAPSE_PYTHON" "$place/bin/python"'


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    folder = tmp_path / "some tools"
    folder.mkdir()
    (folder / "python").write_text("")
    (folder / "python").chmod(0o755)
    return folder


def add_uv(tools: Path, pip: str, venv: str = MAKES_PLACE) -> None:
    (tools / "uv").write_text(f'#!/bin/sh\nif [ "$1" = venv ]; then {venv}; else {pip}; fi\n')
    (tools / "uv").chmod(0o755)


def run(tools: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", "UV": str(tools / "uv"), "SYNAPSE_PYTHON": str(tools / "python")}
    command = ["/bin/sh", SCRIPT, tools / "a synapse"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def remaining_files(tools: Path) -> list[str]:
    return sorted(path.name for path in tools.iterdir() if path.name not in ("uv", "python"))


def test_the_listed_packages_are_installed_once(tools: Path) -> None:
    add_uv(tools, 'touch "$VIRTUAL_ENV/installed"')
    assert run(tools).returncode == 0
    add_uv(tools, "exit 1")

    finished = run(tools)

    assert (finished.returncode, remaining_files(tools)) == (0, ["a synapse"])
    assert (tools / "a synapse" / "installed").exists()


def test_a_changed_list_is_installed_again(tools: Path) -> None:
    add_uv(tools, 'touch "$VIRTUAL_ENV/first"')
    assert run(tools).returncode == 0
    (tools / "a synapse" / "requirements.txt").write_text("")
    add_uv(tools, "exit 0")
    assert run(tools).returncode == 0
    assert not (tools / "a synapse" / "first").exists()


def test_without_uv_the_remedy_is_printed(tools: Path) -> None:
    finished = run(tools)
    assert (finished.returncode, remaining_files(tools)) == (1, [])
    assert "make setup" in finished.stderr


def test_the_error_of_uv_is_printed_and_nothing_is_left(tools: Path) -> None:
    add_uv(tools, "echo 'error: no way to the registry' >&2; exit 2")
    finished = run(tools)
    assert (finished.returncode, remaining_files(tools)) == (1, [])
    assert "uv says 'error: no way to the registry" in finished.stderr
    assert "UV_DEFAULT_INDEX" in finished.stderr
