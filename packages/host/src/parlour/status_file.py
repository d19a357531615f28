"""What a running Host tells other processes of how its parts are doing: one small file, replaced on every change."""

import contextlib
import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)


def put(path: Path, value: Any) -> None:
    """In one step. A disk that refuses holds nothing up: until the next change nothing is told."""
    fresh = path.with_suffix(".new")
    try:
        fresh.write_text(json.dumps(value))
        fresh.replace(path)
    except OSError as error:
        logger.warning("%s can't be written for now: %s", path, error.strerror or error)
        with contextlib.suppress(OSError):  # what it says is not true any more
            path.unlink(missing_ok=True)


class ToldFile:
    def __init__(self, path: Path, kind: str) -> None:
        self._path = path
        self._kind = kind

    def write(self, told: Mapping[str, Mapping[str, Any]]) -> None:
        put(self._path, {"pid": os.getpid(), self._kind: told})

    def read(self, pid: int) -> dict[str, dict[str, Any]]:
        """What this Host has told, by name; nothing when it has not."""
        try:
            content = json.loads(self._path.read_text())
        except (OSError, ValueError):
            return {}
        return dict(content[self._kind]) if content["pid"] == pid else {}
