"""Renews a Host's lease in a thread of its own, so that a busy event loop does not look like a dead Host."""

import asyncio
import contextlib
import threading

from parlour.core.cluster.leases import HostLease, LeaseKeeper
from parlour.core.model.ids import HostId

from .leases import PostgresHostLeases

JOIN_SECONDS = 2.0
LOCK_SECONDS = 1.0


class LeaseThread:
    """Use as `with LeaseThread(url, host_id, lease)`; the lease is not renewed any more afterwards."""

    def __init__(self, url: str, host_id: HostId, lease: HostLease) -> None:
        self._leases = PostgresHostLeases(url, LOCK_SECONDS)
        self._keeper = LeaseKeeper(self._leases, host_id, lease)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="parlour-lease", daemon=True)
        self._task: asyncio.Task[None]

    def __enter__(self) -> "LeaseThread":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended already
            self._loop.call_soon_threadsafe(self._cancel)
        self._thread.join(JOIN_SECONDS)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._task = self._loop.create_task(self._serve())
        with contextlib.suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._task)
        self._loop.close()

    def _cancel(self) -> None:
        self._task.cancel()

    async def _serve(self) -> None:
        try:
            await self._keeper.serve()
        finally:
            await self._leases.close()
