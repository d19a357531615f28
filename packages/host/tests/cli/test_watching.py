"""Tests the watcher of a plugin's files: each change is reported once, when it is complete."""

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
def watcher(folder: Path) -> FileWatcher:
    """Provides a watcher that has already seen the files of the folder."""
    watcher = FileWatcher(folder)
    assert watcher.has_changed()
    assert not watcher.has_changed()
    return watcher


CHANGES: dict[str, Change] = {
    "another size": lambda folder: (folder / "code" / "main.py").write_text("12"),
    "another time": lambda folder: os.utime(folder / "manifest.yaml", ns=(1, 1)),
    "a new file": lambda folder: (folder / "code" / "new.py").write_text(""),
    "a removed file": lambda folder: (folder / "code" / "main.py").unlink(),
    "another name": lambda folder: (folder / "manifest.yaml").rename(folder / "manifest.yml"),
    "a link": lambda folder: (folder / "loop").symlink_to(folder),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_reported_once_when_it_is_complete(folder: Path, watcher: FileWatcher, name: str) -> None:
    CHANGES[name](folder)

    assert [watcher.has_changed() for _ in range(4)] == [False, True, False, False]


def test_a_change_is_not_reported_while_files_still_change(folder: Path, watcher: FileWatcher) -> None:
    for size in range(3):
        (folder / "code" / "main.py").write_text("x" * (size + 5))
        assert not watcher.has_changed()

    assert watcher.has_changed()


@pytest.mark.parametrize("name", ["__pycache__", ".git", ".venv", ".pytest_cache", "tests"])
def test_folders_that_are_not_installed_are_ignored(folder: Path, watcher: FileWatcher, name: str) -> None:
    (folder / "code" / name).mkdir()
    (folder / "code" / name / "file").write_text("")

    assert not any(watcher.has_changed() for _ in range(3))


def test_a_removed_and_a_restored_folder_are_changes(folder: Path, watcher: FileWatcher) -> None:
    folder.rename(folder.with_name("away"))
    assert [watcher.has_changed() for _ in range(3)] == [False, True, False]

    folder.with_name("away").rename(folder)
    assert [watcher.has_changed() for _ in range(3)] == [False, True, False]


def test_other_files_beside_a_single_file_are_ignored(folder: Path) -> None:
    watcher = FileWatcher(folder / "manifest.yaml")
    assert watcher.has_changed()
    (folder / "other.yaml").write_text("")
    assert not any(watcher.has_changed() for _ in range(2))

    (folder / "manifest.yaml").write_text("changed")

    assert [watcher.has_changed() for _ in range(3)] == [False, True, False]
