"""Registers remote workers, watches their heartbeats, and releases the runs of workers that left or became silent."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from parlour.core.access import audit
from parlour.core.asyncio_utils import BackgroundTasks
from parlour.core.errors import CallRejected
from parlour.core.journal import GuardFailed, Journal, Statement, StorageFailed, Unit
from parlour.core.model.ids import NO_KEY, NO_PLUGIN, ApiKeyId, PluginId, RuntimeId
from parlour.core.model.ports import Clock
from parlour.core.store import remote_workers
from parlour.core.store.remote_workers import ACTIVE, GONE, RemoteWorker, RemoteWorkerStore
from parlour_sdk.values import dataclass

from .queue import RemoteRunQueue

logger = logging.getLogger(__name__)

STORAGE_RETRY_SECONDS = 1.0
"""Seconds between attempts to expire a worker while the database fails."""


@dataclass(frozen=True, slots=True)
class WorkerOwner:
    """The plugin or the API key to which a worker belongs."""

    plugin_id: PluginId = NO_PLUGIN
    key_id: ApiKeyId = NO_KEY

    def owns(self, runtime: RemoteWorker) -> bool:
        return (runtime.plugin_id, runtime.key_id) == (self.plugin_id, self.key_id)


class RemoteWorkers:
    """The registered remote workers and their heartbeat timers."""

    def __init__(self, journal: Journal, queue: RemoteRunQueue, clock: Clock) -> None:
        self._journal = journal
        self._store = RemoteWorkerStore(journal)
        self._queue = queue
        self._clock = clock
        self._timers: dict[RuntimeId, asyncio.TimerHandle] = {}
        self._expiries = BackgroundTasks("a remote worker was not marked as gone")

    @property
    def active_count(self) -> int:
        return len(self._timers)

    async def recover(self) -> None:
        """Watches all active workers after a start, or after the Host that watched them may have ended. They could not
        send heartbeats meanwhile, so each gets the full time from now on.
        """
        for runtime in await self._store.all():
            if runtime.status == ACTIVE and runtime.runtime_id not in self._timers:
                self._restart_timer(runtime)

    async def all(self) -> list[RemoteWorker]:
        return await self._store.all()

    async def register(self, owner: WorkerOwner, runtime_id: RuntimeId, definition: Mapping[str, Any]) -> RemoteWorker:
        """Registers a worker. If its process is another one than before, the runs that it held are released."""
        now = self._clock.now()
        runtime = RemoteWorker(
            runtime_id, owner.plugin_id, ACTIVE, definition, now, now, now, key_id=owner.key_id
        ).extended(now)
        while True:
            existing = await self._store.get(runtime_id)
            if existing is not None and existing.status == ACTIVE and not owner.owns(existing):
                raise CallRejected("denied", f"runtime_id: '{runtime_id}' is another plugin's; choose another")
            statement = remote_workers.insert(runtime) if existing is None else remote_workers.update(existing, runtime)
            entry = audit.runtime_entry(runtime.owner, runtime_id, "runtime_register", "registered", now)
            try:
                await self._journal.commit(Unit("runtime.register", (statement, entry)))
            except GuardFailed:
                continue  # a concurrent registration was faster
            self._queue.cancel_waits(runtime_id)  # waits in its name belong to an earlier process of the worker
            if existing is not None and existing.instance != runtime.instance:
                await self._release_runs(existing, f"worker '{runtime_id}' was started again")
            self._restart_timer(runtime)
            return runtime

    async def heartbeat(self, owner: WorkerOwner, runtime_id: RuntimeId) -> RemoteWorker:
        runtime = await self.get_own(owner, runtime_id)
        self._restart_timer(runtime)  # the heartbeat counts even if it can't be written
        now = self._clock.now()
        extended = runtime.extended(now)
        try:
            await self._journal.commit(
                Unit("runtime.heartbeat", (remote_workers.record_seen(runtime, now, extended.expires_at),))
            )
        except GuardFailed as error:
            raise _not_registered(runtime_id) from error
        recorded = await self.get_own(owner, runtime_id)
        self._restart_timer(recorded)
        return recorded

    async def deregister(self, owner: WorkerOwner, runtime_id: RuntimeId, reason: str = "") -> None:
        runtime = await self.get_own(owner, runtime_id)
        await self._end(runtime, "runtime_deregister", reason or f"runtime '{runtime_id}' left")

    async def revoke(self, runtime_id: RuntimeId, actor: str) -> RemoteWorker | None:
        """Ends a registration on request of an operator, and takes the worker's runs away. Returns None if no active
        worker has this id.
        """
        runtime = await self._store.get(runtime_id)
        if runtime is None or runtime.status != ACTIVE:
            return None
        change = audit.change_entry(
            actor, "runtime.revoke", runtime_id, {"status": ACTIVE}, {"status": GONE}, self._clock.now()
        )
        try:
            await self._end(runtime, "runtime_revoke", f"worker '{runtime_id}' was revoked", change)
        except CallRejected:
            return None
        return runtime

    async def get_own(self, owner: WorkerOwner, runtime_id: RuntimeId) -> RemoteWorker:
        """Returns an active worker of this owner; raises CallRejected if there is none with this id."""
        runtime = await self._store.get(runtime_id)
        if runtime is None or not owner.owns(runtime) or runtime.status != ACTIVE:
            raise _not_registered(runtime_id)
        return runtime

    async def expire(self, runtime: RemoteWorker) -> None:
        """Marks a worker as gone that sent no heartbeat in time, and takes its leases away.

        A worker that another Host of the cluster has heard of is watched on.
        """
        stored = await self._store.get(runtime.runtime_id)
        if stored is not None and stored.status == ACTIVE and stored.last_seen_at != runtime.last_seen_at:
            self._restart_timer(stored)
            return
        now = self._clock.now()
        entry = audit.runtime_entry(runtime.owner, runtime.runtime_id, "runtime_heartbeat", GONE, now)
        try:
            await self._journal.commit(Unit("runtime.expire", (remote_workers.mark_gone(runtime), entry)))
        except GuardFailed:
            return  # the worker deregistered before
        seconds = runtime.lease_seconds
        logger.warning("remote worker %s sent no heartbeat for %g s and is gone", runtime.runtime_id, seconds)
        await self._release_runs(runtime, f"runtime '{runtime.runtime_id}' was not heard of for {seconds:g} s")

    async def _end(self, runtime: RemoteWorker, action: str, reason: str, *statements: Statement) -> None:
        entry = audit.runtime_entry(runtime.owner, runtime.runtime_id, action, GONE, self._clock.now())
        try:
            await self._journal.commit(Unit("runtime.leave", (remote_workers.mark_gone(runtime), entry, *statements)))
        except GuardFailed as error:
            raise _not_registered(runtime.runtime_id) from error
        await self._release_runs(runtime, reason)

    async def _release_runs(self, runtime: RemoteWorker, reason: str) -> None:
        timer = self._timers.pop(runtime.runtime_id, None)
        if timer is not None:
            timer.cancel()
        self._queue.cancel_waits(runtime.runtime_id)
        for run in self._queue.held_by(runtime.runtime_id):
            if run.lease is not None:
                await run.revoke(run.lease.token, reason)

    def _restart_timer(self, runtime: RemoteWorker) -> None:
        earlier = self._timers.pop(runtime.runtime_id, None)
        if earlier is not None:
            earlier.cancel()
        loop = asyncio.get_running_loop()
        self._timers[runtime.runtime_id] = loop.call_later(runtime.lease_seconds, self._expired, runtime)

    def _expired(self, runtime: RemoteWorker) -> None:
        self._expiries.start(self._expire(runtime))

    async def _expire(self, runtime: RemoteWorker) -> None:
        timer = self._timers.get(runtime.runtime_id)
        while timer is self._timers.get(runtime.runtime_id):
            try:
                await self.expire(runtime)
                return
            except StorageFailed as failure:
                logger.error(
                    "the expiry of remote worker %s could not be written and is retried: %s",
                    runtime.runtime_id,
                    failure.message,
                )
                await asyncio.sleep(STORAGE_RETRY_SECONDS)


def _not_registered(runtime_id: RuntimeId) -> CallRejected:
    return CallRejected(
        "not_found", f"runtime_id: this plugin has no runtime '{runtime_id}' that is there; register it"
    )
