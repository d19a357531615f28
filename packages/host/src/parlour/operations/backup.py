"""Writes all data of a Host to one file, whether it runs or not. `restore` reads it."""

import io
import json
import os
import sqlite3
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from parlour.app.data_directory import DataDirectory
from parlour.app.secret_key import SecretKeyFiles
from parlour.core.journal import Table
from parlour_sdk.values import dataclass

from . import backup_files

FORMAT = 1
"""Version of the backup's format."""
MANIFEST = "parlour-backup.json"
"""Name of the first entry of a backup."""
DATABASE = "parlour.db"
"""Name of the database in a backup."""
FILES = ("secret.key", "secret.key.next", "secret.key.previous", "config.yaml", "runtime-tokens.json")
"""Files of the data directory that are backed up."""
FOLDERS = ("plugins", "plugin-data", "artifacts")
"""Folders that are backed up. Logs, unclaimed uploads and environments are not: a Host creates them again."""


class BackupFailed(Exception):
    """Raised when the backup can't be made; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class BackupResult:
    """A finished backup, and the files that are not in it."""

    file: Path
    size_bytes: int
    skipped: list[backup_files.SkippedFile]


DatabaseCopier = Callable[[Path], None]
"""Writes a consistent copy of the database to a new file."""


def write_backup(
    directory: DataDirectory,
    file: Path,
    version: str,
    revision: str | None,
    copy: DatabaseCopier,
    excluded_tables: Sequence[Table] = (),
) -> BackupResult:
    """Writes a backup. The file gets its final name only when it is complete and on disk.

    Rows of the tables `excluded_tables` are left out.
    """
    if revision is None:
        raise BackupFailed(f"'{directory.path}' holds no database of a Host; name its data directory with --data")
    if file.exists():
        raise BackupFailed(f"'{file}' exists already; name another file, or move it away")
    partial = file.with_name(f".{file.name}.partial")
    keys = _read_keys(directory)
    try:
        with _open_private(partial) as raw:
            with tarfile.open(fileobj=raw, mode="w:gz", compresslevel=1) as archive:
                _add_bytes(archive, MANIFEST, json.dumps(_manifest(version, revision)).encode())
                _add_database(archive, directory.path, copy, excluded_tables)
                left_out = backup_files.add_all(archive, directory.path, FILES, FOLDERS)
            if _read_keys(directory) != keys:
                raise BackupFailed("the key of the secrets was replaced meanwhile; make the backup again")
            raw.flush()
            os.fsync(raw.fileno())
        partial.rename(file)
    except (OSError, backup_files.ArchiveFailed) as error:
        raise BackupFailed(f"'{file}' can't be written: {getattr(error, 'strerror', None) or error}") from error
    finally:
        partial.unlink(missing_ok=True)
    return BackupResult(file, file.stat().st_size, left_out)


def _read_keys(directory: DataDirectory) -> list[bytes]:
    """Returns the keys of the secrets. Secrets in the copy of the database were sealed with one of them."""
    files = SecretKeyFiles(directory.secret_key)
    return [path.read_bytes() for path in (files.current, files.next, files.previous) if path.exists()]


def _manifest(version: str, revision: str) -> dict[str, str | int]:
    return {"format": FORMAT, "version": version, "revision": revision, "created_at": int(time.time() * 1000)}


@contextmanager
def _open_private(path: Path) -> Iterator[io.BufferedWriter]:
    """Opens a new file that only its owner may read, since it contains the key to every secret."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as raw:
        yield raw


def file_copier(database: Path) -> DatabaseCopier:
    """Returns a copier for a SQLite database. The copy has no free space, and writers are not blocked."""

    def copy(target: Path) -> None:
        with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute("VACUUM INTO ?", (str(target),))

    return copy


def _add_database(archive: tarfile.TarFile, root: Path, copy: DatabaseCopier, excluded_tables: Sequence[Table]) -> None:
    with tempfile.TemporaryDirectory(dir=root, prefix=".backup-") as folder:
        copied = Path(folder) / DATABASE
        copy(copied)
        if excluded_tables:
            _delete_rows(copied, excluded_tables)
        with copied.open("rb") as content:
            backup_files.add_file(archive, DATABASE, content)


def _delete_rows(database: Path, tables: Sequence[Table]) -> None:
    """Deletes all rows of these tables from the copy; VACUUM removes their bytes from the file as well."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        for table in tables:
            connection.execute(f'DELETE FROM "{table.name}"')
        connection.execute("VACUUM")


def _add_bytes(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))
