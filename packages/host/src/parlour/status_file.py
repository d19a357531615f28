"""Writes the status of a running Host's parts for other processes: one small file, replaced on every change."""

import contextlib
import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)


def write_atomically(path: Path, value: Any) -> None:
    """Replaces the file in one step. If that fails, the outdated file is deleted and the caller continues."""
    fresh = path.with_suffix(".new")
    try:
        fresh.write_text(json.dumps(value))
        fresh.replace(path)
    except OSError as error:
        logger.warning("%s can't be written for now: %s", path, error.strerror or error)
        with contextlib.suppress(OSError):  # its content is outdated
            path.unlink(missing_ok=True)


class StatusFile:
    """The status of all bots or plugins of a Host, for commands on the same machine."""

    def __init__(self, path: Path, kind: str) -> None:
        self._path = path
        self._kind = kind

    def write(self, statuses: Mapping[str, Mapping[str, Any]]) -> None:
        write_atomically(self._path, {"pid": os.getpid(), self._kind: statuses})

    def read(self, pid: int) -> dict[str, dict[str, Any]]:
        """Returns the status that the Host with this process id has written, by name; empty if there is none."""
        try:
            content = json.loads(self._path.read_text())
        except (OSError, ValueError):
            return {}
        return dict(content[self._kind]) if content["pid"] == pid else {}
