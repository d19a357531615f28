"""Publishes the status of a running Host's bots to other processes in a file."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from parlour.core.platforms.port import ConnectionStatus
from parlour.status_file import StatusFile


class BotStatusFile:
    def __init__(self, path: Path) -> None:
        self._file = StatusFile(path, "bots")

    def write(self, bots: Mapping[str, ConnectionStatus]) -> None:
        self._file.write({bot_id: asdict(status) for bot_id, status in bots.items()})

    def read(self, pid: int) -> dict[str, ConnectionStatus]:
        """Returns the statuses that the Host with this process id has written; empty if it has written none."""
        return {bot_id: ConnectionStatus(**status) for bot_id, status in self._file.read(pid).items()}
