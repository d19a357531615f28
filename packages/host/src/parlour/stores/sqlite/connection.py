"""Opens SQLite connections. What they are used for is up to those who ask."""

import os
import sqlite3
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from parlour.core.journal import StorageFailed

NEEDED = (3, 37)
"""RETURNING and STRICT tables."""

Mode = Literal["ro", "rw", "rwc"]


def connect(path: Path, mode: Mode, busy_timeout: float) -> sqlite3.Connection:
    """A connection in autocommit, for use by one thread at a time. Touches no page yet."""
    if sqlite3.sqlite_version_info < NEEDED:
        raise StorageFailed(
            "storage_failed",
            f"This Python has SQLite {sqlite3.sqlite_version}, and Parlour needs 3.37 or newer: "
            "use a newer Python, for instance one that uv installs.",
        )
    # Quoted from bytes, so that any name a file can have survives: spaces, ?, #, % and what is no UTF-8.
    address = f"file:{quote(os.fsencode(path.absolute()))}?mode={mode}"
    return sqlite3.connect(
        address,
        uri=True,
        timeout=busy_timeout,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=512,
    )
