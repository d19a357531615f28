"""Keeps a Host's parts, its copies of the configuration, and work from other Hosts up to date."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from parlour.core.cluster.balance import kind_of
from parlour.core.cluster.leases import BEAT_SECONDS
from parlour.core.cluster.part_keeper import PartKeeper
from parlour.core.config.change_watcher import ChangeWatcher
from parlour.core.journal import StorageFailed
from parlour.core.model.ids import HostId

from .membership import Membership
from .remote_results import RemoteResults
from .request_owner import RequestOwner
from .unnoticed_work import UnnoticedWork

logger = logging.getLogger(__name__)


class ClusterService:
    """The services of a Host in a cluster, from its start until it leaves."""

    def __init__(
        self,
        membership: Membership,
        keeper: PartKeeper,
        watcher: ChangeWatcher,
        unnoticed: UnnoticedWork,
        results: RemoteResults,
        request_owner: RequestOwner,
    ) -> None:
        self.membership = membership
        self._keeper = keeper
        self._watcher = watcher
        self._unnoticed = unnoticed
        self._results = results
        self.request_owner = request_owner
        self.closing: list[Callable[[], Awaitable[None]]] = []
        """What the HTTP interface closes with the cluster."""
        self._keeping: asyncio.Task[None] | None = None

    @property
    def host_id(self) -> HostId:
        return self.membership.member.host_id

    def part_counts(self) -> Mapping[str, int]:
        """Returns the number of parts of this Host, by their kind."""
        return Counter(map(kind_of, self.membership.ownership.parts))

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[None]:
        """Reloads configuration that other Hosts change, while the context is open."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(_running(self._watcher.serve()))
            stack.push_async_callback(self._close_others)
            stack.push_async_callback(self._stop_keeping)
            yield

    async def start(self) -> None:
        """Takes the first parts, and keeps taking and giving away from then on."""
        await self._keeper.step()
        self._keeping = asyncio.create_task(self._keep())

    async def leave(self) -> None:
        """Gives all parts away, so that other Hosts continue their work at once."""
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.wait([self._keeping])
            self._keeping = None
            await self._keeper.release_all()

    async def _keep(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._keeper.serve())
            tasks.create_task(self._find_unnoticed())

    async def _find_unnoticed(self) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            try:
                await self._unnoticed.step()
                await self._results.step()
            except StorageFailed as failure:
                logger.warning("work of other Hosts waits for the database: %s", failure.message)
            except Exception:
                logger.exception("work of other Hosts could not be looked for")

    async def _close_others(self) -> None:
        for close in self.closing:
            await close()

    async def _stop_keeping(self) -> None:
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.wait([self._keeping])
        await self._keeper.close()


@asynccontextmanager
async def _running(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
