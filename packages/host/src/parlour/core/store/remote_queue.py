"""Runs that wait for a remote worker or are claimed by one. The lease is the fencing token of the current claim."""

from collections.abc import Sequence

from parlour.core.encoding import dumps
from parlour.core.journal import ANY, Delete, Insert, Journal, Row, Select, Update, other_than, where
from parlour.core.model.ids import PartId, PluginId, RunId, RunnerId

from .tables import QUEUE


def insert(
    run_id: RunId, part: PartId, runner_id: RunnerId, plugin_id: PluginId, labels: Sequence[str], now: int
) -> Insert:
    """Builds the statement that inserts a run that waits for a remote worker."""
    values: dict[str, str | int] = {
        "run_id": run_id,
        "part": part,
        "runner_id": runner_id,
        "plugin_id": plugin_id,
        "labels": dumps(list(labels)),
        "lease": "",
        "request": "",
        "created_at": now,
    }
    return Insert(QUEUE, values)


def claim(run_id: RunId, lease: str) -> Update:
    """Builds the statement that claims a run. It fails its guard if another worker holds it."""
    return Update(QUEUE, {"lease": lease}, where(run_id=run_id, lease=""))


def require_lease(run_id: RunId, lease: str) -> Update:
    """Builds the guard of a unit that only the holder of the lease may commit; it fails for a stale lease."""
    return Update(QUEUE, {"lease": lease}, where(run_id=run_id, lease=lease))


def release(run_id: RunId, lease: str) -> Update:
    """Builds the statement that releases a claimed run, so that another worker can claim it."""
    return Update(QUEUE, {"lease": ""}, where(run_id=run_id, lease=lease))


def delete(run_id: RunId) -> Delete:
    return Delete(QUEUE, where(run_id=run_id), expect=ANY)


class RemoteQueueStore:
    """Reads the queue of remote workers."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def get(self, run_id: RunId) -> Row | None:
        rows = await self._journal.read(Select(QUEUE, where(run_id=run_id), limit=1, point_read=True))
        return rows[0] if rows else None

    async def run_ids(self, part: PartId | None = None) -> set[RunId]:
        """Returns the queued and claimed runs, of all parts or of one."""
        conditions = where(run_id=other_than("")) if part is None else where(part=part)
        return {row["run_id"] for row in await self._journal.read(Select(QUEUE, conditions, ("run_id",)))}
