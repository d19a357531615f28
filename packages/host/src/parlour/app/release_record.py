"""Remembers which release uses the data directory, and since when, so that `parlour doctor` can speak of upgrades."""

import json
import os
import time
from pathlib import Path

from parlour_sdk.values import dataclass

from .data_directory import DataDirectory

FILE = "release.json"
UNKNOWN = "unknown"
"""The release before, for data from before this file existed."""


@dataclass(frozen=True, slots=True)
class ReleaseRecord:
    """The release that uses a data directory."""

    version: str
    since: int
    """Time of its first start, in milliseconds."""
    before: str
    """The release before; "" if there was none."""


def record_release(directory: DataDirectory, version: str) -> None:
    """Writes the record if another release, or none, used the directory before. Called by a Host that has its lock."""
    path = directory.path / FILE
    known = read_release(directory)
    if known is not None and known.version == version:
        return
    has_data = directory.database.exists() or directory.secret_key.exists()
    before = known.version if known else UNKNOWN if has_data else ""
    record = {"version": version, "since": int(time.time() * 1000), "before": before}
    new = path.with_name(f".{FILE}.new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as output:
        json.dump(record, output)
    new.replace(path)


def read_release(directory: DataDirectory) -> ReleaseRecord | None:
    """Returns the record, or None if there is none that can be read."""
    path: Path = directory.path / FILE
    try:
        found = json.loads(path.read_bytes())
        return ReleaseRecord(str(found["version"]), int(found["since"]), str(found["before"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
