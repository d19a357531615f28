"""Treats a plugin's folder as a tree of files: copies it within limits and computes a digest of its content."""

import contextlib
import hashlib
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

from parlour_sdk.plugin import PluginInvalid

from .archive import BLOCK_BYTES, MAX_PATH_BYTES, SizeLimits

EXCLUDED_NAMES = ("__pycache__", ".git", ".venv", "venv", ".pytest_cache", ".mypy_cache", ".ruff_cache", "tests")


def copy(source: Path, target: Path, limits: SizeLimits) -> None:
    """Copies into a folder that does not exist yet. Raises PluginInvalid, or OSError if the disk refuses."""
    count = total = 0
    target.mkdir(mode=0o700)
    for path, information in _walk(source):
        name = path.relative_to(source)
        if len(os.fsencode(name)) > MAX_PATH_BYTES:
            raise PluginInvalid(
                f"{str(name)[:100]}... lies too deep: a path may have {MAX_PATH_BYTES} bytes; move it up"
            )
        folder = stat.S_ISDIR(information.st_mode)
        count, total = count + 1, total + (0 if folder else information.st_size)
        limits.check(count, total)
        if folder:
            (target / name).mkdir(mode=0o700)
        else:
            shutil.copyfile(path, target / name)
            (target / name).chmod(stat.S_IMODE(information.st_mode) & 0o700 | 0o600)  # no rights for other users


def digest(folder: Path) -> str:
    """Returns a digest of names and contents, which does not depend on where the folder is."""
    hasher = hashlib.sha256()
    for path, information in _walk(folder):
        if stat.S_ISREG(information.st_mode):
            name = path.relative_to(folder).as_posix().encode()
            hasher.update(len(name).to_bytes(8, "big") + name + information.st_size.to_bytes(8, "big"))
            with path.open("rb") as file:
                while block := file.read(BLOCK_BYTES):
                    hasher.update(block)
    return hasher.hexdigest()


def _walk(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yields folders before their content, in an order that is the same everywhere. Any depth works."""
    pending = _inside(folder)
    while pending:
        path = pending.pop()
        information = path.lstat()
        if not (stat.S_ISREG(information.st_mode) or stat.S_ISDIR(information.st_mode)):
            raise PluginInvalid(
                f"{path} is neither a file nor a folder, but a link or a device; put the file itself there"
            )
        yield path, information
        if stat.S_ISDIR(information.st_mode):
            pending += _inside(path)


def _inside(folder: Path) -> list[Path]:
    """Returns the entries of a folder, the first one last."""
    return sorted((path for path in folder.iterdir() if path.name not in EXCLUDED_NAMES), reverse=True)


def delete(folder: Path) -> None:
    """Deletes a folder as far as possible.

    A plugin's files may be nested deeper than Python can follow, or be closed to their owner.
    """
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        for command in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
            subprocess.run([*command, "--", str(folder)], check=False, capture_output=True)
