"""Publishes the status of a running Host's bots to other processes in a file."""

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
        """Returns the statuses that the Host with this process id has written; empty if it has written none."""
        return {bot_id: Status(**status) for bot_id, status in self._told.read(pid).items()}
