"""A plugin's folder as a tree of files: copied within limits, and named by a digest of what it holds."""

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from parlour_sdk.plugin import PluginInvalid

from .archive import BLOCK, SizeLimits

LEFT_OUT = ("__pycache__", ".git", ".venv", "venv", ".pytest_cache", ".mypy_cache", ".ruff_cache", "tests")


def copy(source: Path, target: Path, limits: SizeLimits) -> None:
    """Into a folder that is not there yet. Raises PluginInvalid, or OSError when the disk refuses."""
    files = total = 0
    target.mkdir()
    for path, information in _walk(source):
        place = target / path.relative_to(source)
        if stat.S_ISDIR(information.st_mode):
            place.mkdir()
            continue
        files, total = files + 1, total + information.st_size
        limits.check(files, total)
        shutil.copy(path, place)


def digest(folder: Path) -> str:
    """The same for the same names and contents, wherever the folder lies."""
    whole = hashlib.sha256()
    for path, information in _walk(folder):
        if stat.S_ISREG(information.st_mode):
            name = path.relative_to(folder).as_posix().encode()
            whole.update(len(name).to_bytes(8, "big") + name + information.st_size.to_bytes(8, "big"))
            with path.open("rb") as file:
                while block := file.read(BLOCK):
                    whole.update(block)
    return whole.hexdigest()


def _walk(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Folders before what is in them, in one order everywhere."""
    for path in sorted(folder.iterdir()):
        if path.name in LEFT_OUT:
            continue
        information = path.lstat()
        if not (stat.S_ISREG(information.st_mode) or stat.S_ISDIR(information.st_mode)):
            raise PluginInvalid(
                f"{path} is neither a file nor a folder, but a link or a device; put the file itself there"
            )
        yield path, information
        if stat.S_ISDIR(information.st_mode):
            yield from _walk(path)
