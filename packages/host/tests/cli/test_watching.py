"""Seeing that a plugin's files have changed: once for each change, and not while it is still going on."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from parlour.cli.plugin_commands.file_watcher import FileWatcher

Change = Callable[[Path], object]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "main.py").write_text("1")
    (tmp_path / "manifest.yaml").write_text("1")
    return tmp_path


@pytest.fixture
def watched(folder: Path) -> FileWatcher:
    """What is there was seen already."""
    watched = FileWatcher(folder)
    assert watched.has_changed()
    assert not watched.has_changed()
    return watched


CHANGES: dict[str, Change] = {
    "another size": lambda folder: (folder / "code" / "main.py").write_text("12"),
    "another time": lambda folder: os.utime(folder / "manifest.yaml", ns=(1, 1)),
    "a new file": lambda folder: (folder / "code" / "new.py").write_text(""),
    "a file less": lambda folder: (folder / "code" / "main.py").unlink(),
    "another name": lambda folder: (folder / "manifest.yaml").rename(folder / "manifest.yml"),
    "a link": lambda folder: (folder / "loop").symlink_to(folder),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_seen_once_it_is_over(folder: Path, watched: FileWatcher, name: str) -> None:
    CHANGES[name](folder)

    assert [watched.has_changed() for _ in range(4)] == [False, True, False, False]


def test_while_files_go_on_changing_it_waits(folder: Path, watched: FileWatcher) -> None:
    for size in range(3):
        (folder / "code" / "main.py").write_text("x" * (size + 5))
        assert not watched.has_changed()

    assert watched.has_changed()


@pytest.mark.parametrize("name", ["__pycache__", ".git", ".venv", ".pytest_cache", "tests"])
def test_what_is_not_installed_does_not_count(folder: Path, watched: FileWatcher, name: str) -> None:
    (folder / "code" / name).mkdir()
    (folder / "code" / name / "file").write_text("")

    assert not any(watched.has_changed() for _ in range(3))


def test_a_folder_that_goes_and_comes_back_is_a_change(folder: Path, watched: FileWatcher) -> None:
    folder.rename(folder.with_name("away"))
    assert [watched.has_changed() for _ in range(3)] == [False, True, False]

    folder.with_name("away").rename(folder)
    assert [watched.has_changed() for _ in range(3)] == [False, True, False]


def test_a_single_file_is_watched_alone(folder: Path) -> None:
    watched = FileWatcher(folder / "manifest.yaml")
    assert watched.has_changed()
    (folder / "other.yaml").write_text("")
    assert not any(watched.has_changed() for _ in range(2))

    (folder / "manifest.yaml").write_text("changed")

    assert [watched.has_changed() for _ in range(3)] == [False, True, False]
