"""Runs that wait for a remote worker or are claimed by one. The lease is the fencing token of the current claim."""

from collections.abc import Sequence

from parlour.core.encoding import dumps
from parlour.core.journal import ANY, Delete, Insert, Journal, Row, Select, Update, other_than, where

from .tables import QUEUE


def insert(run_id: str, runner_id: str, plugin_id: str, labels: Sequence[str], now: int) -> Insert:
    """Inserts a run that waits for a remote worker."""
    values: dict[str, str | int] = {
        "run_id": run_id,
        "runner_id": runner_id,
        "plugin_id": plugin_id,
        "labels": dumps(list(labels)),
        "lease": "",
        "request": "",
        "created_at": now,
    }
    return Insert(QUEUE, values)


def claim(run_id: str, lease: str) -> Update:
    """Claims a run. Fails its guard if another worker holds it."""
    return Update(QUEUE, {"lease": lease}, where(run_id=run_id, lease=""))


def require_lease(run_id: str, lease: str) -> Update:
    """Guards a unit that only the holder of the lease may commit; it fails for a stale lease."""
    return Update(QUEUE, {"lease": lease}, where(run_id=run_id, lease=lease))


def release(run_id: str, lease: str) -> Update:
    """Releases a claimed run, so that another worker can claim it."""
    return Update(QUEUE, {"lease": ""}, where(run_id=run_id, lease=lease))


def delete(run_id: str) -> Delete:
    return Delete(QUEUE, where(run_id=run_id), expect=ANY)


class RemoteQueueStore:
    """Reads the queue of remote workers."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def get(self, run_id: str) -> Row | None:
        rows = await self._journal.read(Select(QUEUE, where(run_id=run_id), limit=1, point_read=True))
        return rows[0] if rows else None

    async def run_ids(self) -> set[str]:
        return {row["run_id"] for row in await self._journal.read(Select(QUEUE, where(run_id=other_than(""))))}
