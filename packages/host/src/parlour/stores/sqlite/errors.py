"""Translates errors of SQLite into messages that an operator can act on."""

import sqlite3
from pathlib import Path

from parlour.core.journal import StorageFailed

_UNIQUE = {sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_ROWID}
_NO_ROOM = {sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_TRUNCATE}
"""Codes that a quota, a file size limit or some file systems cause instead of SQLITE_FULL."""

_FULL = (
    "storage_full",
    "There is no room to write '{path}': free disk space or raise the limit; Parlour goes on as soon as there is room.",
)
_BUSY = (
    "storage_busy",
    "'{path}' is locked by another program: close whatever else has it open (a backup, a database browser) and retry.",
)
_READONLY = (
    "storage_readonly",
    "'{path}' can't be written: let the user that runs Parlour write to it and to its folder.",
)
_CORRUPT = (
    "storage_corrupt",
    "'{path}' is damaged or is no database: restore a backup, or move the file away to start with an empty one.",
)
_UNOPENED = (
    "storage_failed",
    "'{path}' can't be opened: check that it exists and that the user that runs Parlour may use it and its folder.",
)
_OTHER = ("storage_failed", "The database '{path}' could not do it: {detail}.")

_BY_PRIMARY_CODE = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_READONLY: _READONLY,
    sqlite3.SQLITE_PERM: _READONLY,
    sqlite3.SQLITE_CORRUPT: _CORRUPT,
    sqlite3.SQLITE_NOTADB: _CORRUPT,
    sqlite3.SQLITE_CANTOPEN: _UNOPENED,
}


def _code(error: BaseException) -> int:
    """Returns SQLite's error code; 0 if the error did not come from SQLite itself."""
    code = getattr(error, "sqlite_errorcode", 0)
    return code if isinstance(code, int) else 0


def is_busy(error: BaseException) -> bool:
    return _code(error) & 0xFF == sqlite3.SQLITE_BUSY


def is_unique_violation(error: sqlite3.IntegrityError) -> bool:
    return _code(error) in _UNIQUE


def storage_failure(error: BaseException, path: Path) -> StorageFailed:
    extended = _code(error)
    kind = _FULL if extended in _NO_ROOM else _BY_PRIMARY_CODE.get(extended & 0xFF, _OTHER)
    code, sentence = kind
    failure = StorageFailed(code, sentence.format(path=path, detail=error))
    failure.__cause__ = error
    return failure
