"""Restores a backup to an empty data directory. Everything in the file is checked before it is used."""

import json
import os
import shutil
import sqlite3
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import Any

from parlour.stores.migrate import KNOWN_REVISIONS

from .backup import DATABASE, FILES, FOLDERS, FORMAT, MANIFEST

DatabaseLoader = Callable[[Path], None]
"""Loads a database file into the database that the settings name."""


class RestoreFailed(Exception):
    """Raised when the backup can't be restored; the message says why and what to do."""


def restore_backup(file: Path, target: Path, load: DatabaseLoader | None = None) -> dict[str, Any]:
    """Restores a backup and returns its manifest. The data directory appears completely or not at all.

    With `load`, the database is loaded elsewhere and removed from the data directory.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise RestoreFailed(f"'{target}' is not empty; name another folder with --data, or move it away")
    building = target.with_name(f".{target.name}.restoring")
    shutil.rmtree(building, ignore_errors=True)
    try:
        building.mkdir(mode=0o700, parents=True)
        manifest = _unpack_backup(file, building)
        _check_database(building / DATABASE)
        if load is not None:
            load(building / DATABASE)
            for leftover in building.glob(f"{DATABASE}*"):
                leftover.unlink()
        if target.exists():
            target.rmdir()
        building.rename(target)
    except OSError as error:
        raise RestoreFailed(f"'{target}' can't be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return manifest


def _unpack_backup(file: Path, building: Path) -> dict[str, Any]:
    try:
        with tarfile.open(file, "r:gz") as archive:
            manifest = _manifest(archive)
            for entry in archive:
                _unpack(archive, entry, building)
    except FileNotFoundError:
        raise RestoreFailed(f"there is no file '{file}'") from None
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise RestoreFailed(f"'{file}' is no backup of Parlour, or it is not whole: {error}") from error
    return manifest


def _manifest(archive: tarfile.TarFile) -> dict[str, Any]:
    first_entry = archive.next()
    content = archive.extractfile(first_entry) if first_entry is not None and first_entry.name == MANIFEST else None
    manifest = json.load(content) if content is not None else None
    if not isinstance(manifest, dict):
        raise ValueError("it does not begin as one does")
    if manifest["format"] != FORMAT or manifest["revision"] not in KNOWN_REVISIONS:
        raise RestoreFailed(
            f"the backup was made by a newer Parlour ({manifest['version']}): update Parlour, then restore it"
        )
    return manifest


def _unpack(archive: tarfile.TarFile, entry: tarfile.TarInfo, building: Path) -> None:
    name = PurePosixPath(entry.name)
    is_expected = entry.name in (MANIFEST, DATABASE, *FILES) or name.parts[0] in FOLDERS
    if not entry.isfile() or not is_expected or name.is_absolute() or ".." in name.parts:
        raise ValueError(f"it holds '{entry.name}', which no backup does")
    content = archive.extractfile(entry)
    if content is None or entry.name == MANIFEST:
        return
    path = building / name
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o700 if entry.mode & 0o100 else 0o600)
    with os.fdopen(descriptor, "wb") as output:
        shutil.copyfileobj(content, output)
        output.flush()
        os.fsync(output.fileno())


def _check_database(database: Path) -> None:
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
            [(verdict,)] = connection.execute("PRAGMA quick_check(1)").fetchall()
    except sqlite3.Error as error:
        raise RestoreFailed(f"the backup's database can't be read: {error}") from error
    if verdict != "ok":
        raise RestoreFailed(f"the backup's database is damaged: {verdict}")
