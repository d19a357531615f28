"""Detects changes of a plugin's files by polling, without a watcher of the operating system."""

from collections.abc import Iterator
from pathlib import Path

from parlour.plugin_runtime.packages.file_tree import EXCLUDED_NAMES

Snapshot = dict[Path, tuple[int, int]]
"""Modification time in nanoseconds and size of each file."""


class FileWatcher:
    """Detects changes below a path. The caller polls it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reported: Snapshot | None = None
        self._last_snapshot = _snapshot(path)

    def has_changed(self) -> bool:
        """Returns whether files have changed since it last returned True, and are not changing any more.

        An editor saves several files one after the other, so a change is reported when two polls see the same files.
        """
        snapshot = _snapshot(self._path)
        is_unchanged = snapshot == self._last_snapshot
        self._last_snapshot = snapshot
        if not is_unchanged or snapshot == self._reported:
            return False
        self._reported = snapshot
        return True


def _snapshot(path: Path) -> Snapshot:
    """Returns the state of all files. A file that can't be read counts as absent."""
    return {file: state for file in _files(path) if (state := _file_state(file)) is not None}


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for each in _entries(path):
        if each.name in EXCLUDED_NAMES:
            continue
        yield from _files(each) if each.is_dir() and not each.is_symlink() else [each]


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _file_state(file: Path) -> tuple[int, int] | None:
    try:
        information = file.lstat()
    except OSError:
        return None
    return information.st_mtime_ns, information.st_size
