"""Sees that a plugin's files have changed, by looking: no watcher of the operating system's is needed."""

from collections.abc import Iterator
from pathlib import Path

from parlour.plugin_runtime.packages.file_tree import LEFT_OUT

Snapshot = dict[Path, tuple[int, int]]
"""When each file was changed, and its size."""


class Watched:
    """Looked at again and again by whoever wants to know."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._taken: Snapshot | None = None
        self._seen = _snapshot(path)

    def changed(self) -> bool:
        """Since it last said so, and not still changing: an editor saves several files one after the other."""
        seen = _snapshot(self._path)
        still = seen == self._seen
        self._seen = seen
        if not still or seen == self._taken:
            return False
        self._taken = seen
        return True


def _snapshot(path: Path) -> Snapshot:
    """What can't be looked at is as good as absent."""
    return {file: seen for file in _files(path) if (seen := _look(file)) is not None}


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for each in _entries(path):
        if each.name in LEFT_OUT:
            continue
        yield from _files(each) if each.is_dir() and not each.is_symlink() else [each]


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _look(file: Path) -> tuple[int, int] | None:
    try:
        information = file.lstat()
    except OSError:
        return None
    return information.st_mtime_ns, information.st_size
