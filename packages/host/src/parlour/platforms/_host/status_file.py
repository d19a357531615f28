"""Tells other processes how the bots of a running Host are doing."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from parlour.core.platforms.port import Status
from parlour.status_file import ToldFile


class BotStatusFile:
    def __init__(self, path: Path) -> None:
        self._told = ToldFile(path, "bots")

    def write(self, bots: Mapping[str, Status]) -> None:
        self._told.write({bot_id: asdict(status) for bot_id, status in bots.items()})

    def all(self, pid: int) -> dict[str, Status]:
        """What this Host has told; nothing when it has not."""
        return {bot_id: Status(**status) for bot_id, status in self._told.read(pid).items()}
