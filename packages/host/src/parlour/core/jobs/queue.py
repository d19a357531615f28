"""The jobs of one key that belong to this Host. With several Hosts, the jobs of a key can belong to several parts; each
Host keeps the order of those that it owns.
"""

from parlour.core.cluster.ownership import Ownership

from .job_rows import JobStore, NextJob


class JobQueue:
    """Finds the next job of a key."""

    def __init__(self, store: JobStore, ownership: Ownership) -> None:
        self._store = store
        self._ownership = ownership

    async def next(self, kind: str, order_key: str, now: int) -> NextJob:
        """Returns the first job of a key, as `JobStore.next` does, among those whose part this Host owns."""
        if self._ownership.is_sole:
            return await self._store.next(kind, order_key, now)
        parts = await self._store.open_parts(kind, order_key)
        found = [
            await self._store.next(kind, order_key, now, part) for part in sorted(parts) if self._ownership.owns(part)
        ]
        ready = [each for each in found if each.job is not None]
        if ready:  # one that is due comes before one that waits for its next attempt
            return min(ready, key=lambda each: (max(each.due_at, now), each.job.event_seq if each.job else 0))
        return NextJob(None, min((each.due_at for each in found if each.due_at), default=0))
