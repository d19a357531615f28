"""Opens SQLite connections. Their use is up to the callers."""

import os
import sqlite3
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from parlour.core.journal import StorageFailed

MIN_SQLITE_VERSION = (3, 37)
"""Minimum version, for RETURNING and STRICT tables."""

Mode = Literal["ro", "rw", "rwc"]


def connect(path: Path, mode: Mode, busy_timeout: float) -> sqlite3.Connection:
    """Returns a connection in autocommit mode, for use by one thread at a time. It has not read any page yet."""
    if sqlite3.sqlite_version_info < MIN_SQLITE_VERSION:
        raise StorageFailed(
            "storage_failed",
            f"This Python has SQLite {sqlite3.sqlite_version}, and Parlour needs 3.37 or newer: "
            "use a newer Python, for instance one that uv installs.",
        )
    # Quoted from bytes, so that any file name works: with spaces, ?, #, % and bytes that are not UTF-8.
    address = f"file:{quote(os.fsencode(path.absolute()))}?mode={mode}"
    return sqlite3.connect(
        address,
        uri=True,
        timeout=busy_timeout,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=512,
    )
