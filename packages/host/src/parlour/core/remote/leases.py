"""A run that a remote worker executes: queued, claimed, then running, under successive leases.

This module knows one run. `RemoteRunQueue` decides which worker gets it, and the recorder applies its results.
"""

import asyncio
import logging
from collections.abc import Callable

from parlour.core.access import audit
from parlour.core.errors import Refused
from parlour.core.journal import GuardFailed, Journal, StorageFailed, Unit
from parlour.core.model.ports import Clock
from parlour.core.model.runner import Descriptor
from parlour.core.runs.active_run import Live
from parlour.core.runs.session import Ending
from parlour.core.store import ledger, remote_queue
from parlour.core.store.ledger import Status
from parlour.core.store.remote_workers import Runtime
from parlour_sdk.values import dataclass

logger = logging.getLogger(__name__)

LEASE_SECONDS = 30.0
"""Seconds after which a lease that is not renewed expires."""
STORAGE_RETRY_SECONDS = 1.0
"""Seconds between attempts to process an expired lease while the database fails."""


@dataclass(slots=True)
class Lease:
    """The time-limited right of one worker to execute a run."""

    token: str
    runtime: Runtime
    until: int
    """Time of expiry in milliseconds since the epoch, as it is stored."""
    ends: float = 0.0
    """Time of expiry on the event loop's clock, which is the one that is enforced."""


class LeasedRun:
    """A run in the remote queue and its current lease.

    Every change of the holder is made under the lock of the active run, and in the database first.
    """

    def __init__(
        self,
        live: Live,
        descriptor: Descriptor,
        labels: frozenset[str],
        status: Status,
        journal: Journal,
        clock: Clock,
        requeued: Callable[[], None],
    ) -> None:
        self.live = live
        self.descriptor = descriptor
        self.labels = labels
        self.status = status
        self.lease: Lease | None = None
        self._journal = journal
        self._clock = clock
        self._requeued = requeued
        self._timer: asyncio.TimerHandle | None = None
        self._expiry: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        session = live.session
        session.remote, session.executor, session.stream, session.begin = True, "", self, self.begin
        session.closing = (remote_queue.drop(session.run_id),)
        if session.is_over():
            self._wake.set()  # it was cancelled while it was being queued

    @property
    def run_id(self) -> str:
        return self.live.session.run_id

    @property
    def holder(self) -> str:
        return self.lease.runtime.plugin_id if self.lease is not None else ""

    def abort(self, error: BaseException) -> None:
        """Wakes the run's suspended lane, because the run is over or has to end."""
        self._wake.set()

    async def over(self) -> None:
        """Returns when the run is over or has to end."""
        await self._wake.wait()

    async def claim(self, runtime: Runtime, token: str) -> bool:
        """Leases the run to a worker. Returns False if the run is no longer available."""
        async with self.live.lock:
            if self.status != "queued" or self.live.session.is_over():
                return False
            now = self._clock.now()
            until = now + int(LEASE_SECONDS * 1000)
            claimed = ledger.advance(
                self.run_id, "queued", "claimed", now, claimed_by=runtime.runtime_id, lease_until=until
            )
            entry = audit.runtime(runtime.plugin_id, runtime.runtime_id, "run_claim", "claimed", now, self.run_id)
            try:
                await self._journal.commit(Unit("run.claim", (claimed, remote_queue.hold(self.run_id, token), entry)))
            except GuardFailed:
                self.status = "claimed"  # another process with the same database was faster
                return False
            self.hold(Lease(token, runtime, until), "claimed")
            return True

    def hold(self, lease: Lease, status: Status) -> None:
        """Sets the lease in memory and starts its timer."""
        self.status, self.lease = status, lease
        session = self.live.session
        session.executor, session.lease = lease.runtime.plugin_id, lease.token
        session.fence = (remote_queue.held(self.run_id, lease.token),)
        self._wind_up(lease)

    async def renew(self, token: str, plugin_id: str) -> Lease:
        """Extends the lease to its full duration from now on."""
        async with self.live.lock:
            lease = self.check(token, plugin_id)
            now = self._clock.now()
            until = now + int(LEASE_SECONDS * 1000)
            renewed = ledger.renew(self.run_id, until)
            await self._journal.commit(Unit("run.renew", (renewed, remote_queue.held(self.run_id, token))))
            lease.until = until
            self._wind_up(lease)
            return lease

    async def release(self, token: str, plugin_id: str) -> None:
        """Puts a claimed run that has not started back into the queue."""
        async with self.live.lock:
            self.check(token, plugin_id)
            if self.status != "claimed":
                told = "the run has begun and can't be given back; end it with run_finalize"
                raise Refused("invalid_argument", told)
            await self._requeue("released")

    async def begin(self) -> None:
        """Marks the run as started, at its first call or result; from then on a lost lease ends it."""
        async with self.live.lock:
            await self.begun()

    async def begun(self) -> None:
        """Marks a claimed run as started. The caller holds the lock of the active run."""
        if self.status != "claimed" or self.lease is None:
            return
        now = self._clock.now()
        running = ledger.advance(self.run_id, "claimed", "running", now)
        await self._journal.commit(Unit("run.begin", (running, remote_queue.held(self.run_id, self.lease.token))))
        self.status = "running"

    def check(self, token: str | None, plugin_id: str) -> Lease:
        """Returns the lease if the token is the current one and comes from the holder or the runner's own plugin."""
        lease = self.lease
        if lease is None or token != lease.token:
            raise Refused("unauthorized", "lease: it is not the one that this run is held by; claim the run anew")
        if plugin_id not in (lease.runtime.plugin_id, self.descriptor.plugin_id):
            raise Refused("unauthorized", "lease: another plugin's runtime holds this run")
        return lease

    async def lose(self, token: str, why: str, unless_renewed: bool = False) -> None:
        """Takes the lease from a holder that is gone. A run that has not started is queued again, one that has started
        is ended.
        """
        async with self.live.lock:
            lease = self.lease
            if lease is None or lease.token != token or self.live.session.is_over():
                return
            if unless_renewed and asyncio.get_running_loop().time() < lease.ends:
                return
            if self.status == "claimed":
                await self._requeue("lost")
                return
            session, runtime = self.live.session, lease.runtime
            now = self._clock.now()
            session.audited.append(
                audit.runtime(runtime.plugin_id, runtime.runtime_id, "run_claim", "lost", now, self.run_id)
            )
            self._let_go()
            session.stop(Ending("failed", "interrupted", f"{why} while it executed the run"))

    def close(self) -> None:
        """Drops the lease and its timer, because the run is over."""
        self._let_go()

    async def _requeue(self, outcome: str) -> None:
        lease = self.lease
        assert lease is not None
        now = self._clock.now()
        queued = ledger.advance(self.run_id, "claimed", "queued", now, claimed_by="", lease_until=0)
        runtime = lease.runtime
        entry = audit.runtime(runtime.plugin_id, runtime.runtime_id, "run_claim", outcome, now, self.run_id)
        await self._journal.commit(
            Unit("run.requeue", (queued, remote_queue.give_back(self.run_id, lease.token), entry))
        )
        self._let_go()
        self.status = "queued"
        self._requeued()

    def _let_go(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self.lease = None
        session = self.live.session
        session.executor, session.lease, session.fence = "", "", ()

    def _wind_up(self, lease: Lease) -> None:
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        lease.ends = loop.time() + LEASE_SECONDS
        self._timer = loop.call_at(lease.ends, self._expired, lease)

    def _expired(self, lease: Lease) -> None:
        self._expiry = asyncio.get_running_loop().create_task(self._expire(lease))

    async def _expire(self, lease: Lease) -> None:
        why = f"runtime '{lease.runtime.runtime_id}' was not heard of for {LEASE_SECONDS:g} s"
        while True:
            try:
                await self.lose(lease.token, why, unless_renewed=True)
                return
            except StorageFailed as failure:
                logger.error(
                    "the expired lease of run %s could not be processed and is retried: %s",
                    self.run_id,
                    failure.message,
                )
                await asyncio.sleep(STORAGE_RETRY_SECONDS)
