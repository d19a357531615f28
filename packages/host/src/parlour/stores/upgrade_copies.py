"""Copies a SQLite database before it is migrated, so that the release before can be used again.

The copies are in a folder beside the database. PostgreSQL has no automatic copy: its operators have their own backups.
"""

import logging
import os
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from parlour.core.journal import StorageFailed

from .sqlite.errors import storage_failure

FOLDER = "before-upgrade"
"""Folder of the copies, beside the database."""
KEPT_COPIES = 3
SPARE_BYTES = 32 * 1024 * 1024
"""Free bytes that must be left on the disk after the copy."""

logger = logging.getLogger(__name__)


def copy_before_upgrade(database: Path, revision: str) -> Path:
    """Copies the database, deletes the oldest copies, and returns the new one. Raises StorageFailed.

    The copy gets its final name only when it is complete and on disk.
    """
    folder = database.with_name(FOLDER)
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    target = folder / f"{database.stem}-{revision}-{stamp}.db"
    partial = folder / ".partial"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        _require_room(database, folder)
        _copy(database, partial)
        partial.replace(target)
        _sync(folder)
    except OSError as error:
        raise StorageFailed("storage_failed", _failed(database, error.strerror or str(error))) from error
    finally:
        partial.unlink(missing_ok=True)
    for old in copies(database)[KEPT_COPIES:]:
        old.unlink(missing_ok=True)
    logger.info("copied the database to '%s' before its upgrade", target)
    return target


def copies(database: Path) -> list[Path]:
    """Returns the copies of the database, newest first."""
    folder = database.with_name(FOLDER)
    found = [path for path in folder.glob(f"{database.stem}-*.db") if path.is_file()] if folder.is_dir() else []
    return sorted(found, key=lambda path: (path.name.rpartition("-")[2], path.name), reverse=True)


def required_bytes(database: Path) -> int:
    """Returns the size of the database with its log, which the copy does not exceed."""
    files = (database, database.with_name(f"{database.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def _require_room(database: Path, folder: Path) -> None:
    required, free = required_bytes(database) + SPARE_BYTES, shutil.disk_usage(folder).free
    if free < required:
        raise StorageFailed(
            "storage_full",
            f"The copy of '{database}' before its upgrade needs {required / 1024**2:,.0f} MiB, and "
            f"{free / 1024**2:,.0f} MiB are free: make room, or make a backup elsewhere and run "
            "parlour db upgrade --without-copy.",
        )


def _copy(database: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute("VACUUM INTO ?", (str(target),))
    except sqlite3.Error as error:
        raise storage_failure(error, target) from error
    _sync(target)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _failed(database: Path, reason: str) -> str:
    return (
        f"'{database}' can't be copied before its upgrade ({reason}): let the user that runs Parlour write to its "
        "folder, or make a backup elsewhere and run parlour db upgrade --without-copy."
    )
