"""A run that a remote worker executes: queued, claimed, then running, under successive leases.

This module knows one run. `RemoteRunQueue` decides which worker gets it, and the recorder applies its results.
"""

import asyncio
from functools import partial
from typing import Protocol

from parlour.core.access import audit
from parlour.core.errors import CallRejected
from parlour.core.journal import GuardFailed, Journal, Statement, Unit, retry_on_storage_failure
from parlour.core.model.ids import NO_PLUGIN, PluginId, RunId
from parlour.core.model.ports import Clock
from parlour.core.model.runner import RunnerDescriptor
from parlour.core.runs.active_run import ActiveRun
from parlour.core.runs.session import RunTermination
from parlour.core.store import ledger, remote_queue
from parlour.core.store.ledger import RunStatus
from parlour.core.store.remote_workers import RemoteWorker
from parlour_sdk.values import dataclass


class LeaseObserver(Protocol):
    """Follows the leases of queued runs."""

    def on_leased(self, run: "LeasedRun", runtime: RemoteWorker) -> None: ...

    def on_lease_ended(self, run: "LeasedRun", runtime: RemoteWorker) -> None: ...

    def on_requeued(self, run: "LeasedRun") -> None: ...

    def on_stopped(self, run: "LeasedRun") -> None:
        """Called when the run is over or has to end."""
        ...


@dataclass(slots=True)
class Lease:
    """The time-limited right of one worker to execute a run."""

    token: str
    runtime: RemoteWorker
    expires_at: int
    """Time of expiry in milliseconds since the epoch, as it is stored."""
    loop_deadline: float = 0.0
    """Time of expiry on the event loop's clock, which is the one that is enforced."""


class LeasedRun:
    """A run in the remote queue and its current lease.

    Every change of the holder is made under the lock of the active run, and in the database first.
    """

    def __init__(
        self,
        active_run: ActiveRun,
        descriptor: RunnerDescriptor,
        labels: frozenset[str],
        status: RunStatus,
        journal: Journal,
        clock: Clock,
        observer: LeaseObserver,
    ) -> None:
        self.active_run = active_run
        self.descriptor = descriptor
        self.labels = labels
        self.status = status
        self.lease: Lease | None = None
        self.queued_at = asyncio.get_running_loop().time()
        """Time at which it was last queued, on the event loop's clock."""
        self._journal = journal
        self._clock = clock
        self._observer = observer
        self._timer: asyncio.TimerHandle | None = None
        self._expiry: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        active_run.session.execute_remotely(self)
        if active_run.session.is_closed():
            self._wake.set()  # it was cancelled while it was being queued

    @property
    def run_id(self) -> RunId:
        return self.active_run.session.run_id

    @property
    def holder(self) -> PluginId:
        """Plugin whose calls belong to the run. A worker process acts as the runner's own plugin."""
        return NO_PLUGIN if self.lease is None else self.lease.runtime.plugin_id or self.descriptor.plugin_id

    @property
    def lease_token(self) -> str:
        return self.lease.token if self.lease is not None else ""

    @property
    def write_guards(self) -> tuple[Statement, ...]:
        return (remote_queue.require_lease(self.run_id, self.lease.token),) if self.lease is not None else ()

    @property
    def final_statements(self) -> tuple[Statement, ...]:
        return (remote_queue.delete(self.run_id),)

    def abort(self, error: BaseException) -> None:
        """Wakes the run's suspended lane, because the run is over or has to end."""
        self._wake.set()
        self._observer.on_stopped(self)

    async def wait_until_ended(self) -> None:
        """Returns when the run is over or has to end."""
        await self._wake.wait()

    async def claim(self, runtime: RemoteWorker, token: str) -> bool:
        """Leases the run to a worker. Returns False if the run is no longer available."""
        async with self.active_run.lock:
            if self.status != "queued" or self.active_run.session.is_closed():
                return False
            now = self._clock.now()
            until = now + int(runtime.lease_seconds * 1000)
            claim_update = ledger.transition(
                self.run_id, "queued", "claimed", now, claimed_by=runtime.runtime_id, lease_until=until
            )
            entry = audit.runtime_entry(runtime.owner, runtime.runtime_id, "run_claim", "claimed", now, self.run_id)
            try:
                await self._journal.commit(
                    Unit("run.claim", (claim_update, remote_queue.claim(self.run_id, token), entry))
                )
            except GuardFailed:
                self.status = "claimed"  # another process with the same database was faster
                return False
            self.set_lease(Lease(token, runtime, until), "claimed")
            return True

    def set_lease(self, lease: Lease, status: RunStatus) -> None:
        """Sets the lease in memory and starts its timer."""
        self.status, self.lease = status, lease
        self._start_timer(lease)
        self._observer.on_leased(self, lease.runtime)

    async def renew(self, token: str, plugin_id: PluginId) -> Lease:
        """Extends the lease to its full duration from now on."""
        async with self.active_run.lock:
            lease = self.verify(token, plugin_id)
            now = self._clock.now()
            until = now + int(lease.runtime.lease_seconds * 1000)
            renewal = ledger.renew_lease(self.run_id, until)
            await self._journal.commit(Unit("run.renew", (renewal, remote_queue.require_lease(self.run_id, token))))
            lease.expires_at = until
            self._start_timer(lease)
            return lease

    async def release(self, token: str, plugin_id: PluginId) -> None:
        """Puts a claimed run that has not started back into the queue."""
        async with self.active_run.lock:
            self.verify(token, plugin_id)
            if self.status != "claimed":
                message = "the run has begun and can't be given back; end it with run_finalize"
                raise CallRejected("invalid_argument", message)
            await self._requeue("released")

    async def start(self) -> None:
        """Marks the run as started, at its first call or result; from then on a lost lease ends it."""
        async with self.active_run.lock:
            await self.ensure_started()

    async def ensure_started(self) -> None:
        """Marks a claimed run as started. The caller holds the lock of the active run."""
        if self.status != "claimed" or self.lease is None:
            return
        now = self._clock.now()
        start_update = ledger.transition(self.run_id, "claimed", "running", now)
        await self._journal.commit(
            Unit("run.begin", (start_update, remote_queue.require_lease(self.run_id, self.lease.token)))
        )
        self.status = "running"

    def verify(self, token: str | None, plugin_id: PluginId) -> Lease:
        """Returns the lease if the token is the current one and comes from the holder or the runner's own plugin."""
        lease = self.lease
        if lease is None or token != lease.token:
            raise CallRejected("unauthorized", "lease: it is not the one that this run is held by; claim the run anew")
        if plugin_id not in (self.holder, self.descriptor.plugin_id):
            raise CallRejected("unauthorized", "lease: another plugin's runtime holds this run")
        return lease

    async def revoke(self, token: str, reason: str, unless_renewed: bool = False) -> None:
        """Takes the lease from a holder that is gone. A run that has not started is queued again, one that has started
        is ended.
        """
        async with self.active_run.lock:
            lease = self.lease
            if lease is None or lease.token != token or self.active_run.session.is_closed():
                return
            if unless_renewed and asyncio.get_running_loop().time() < lease.loop_deadline:
                return
            if self.status == "claimed":
                await self._requeue("lost")
                return
            session, runtime = self.active_run.session, lease.runtime
            now = self._clock.now()
            session.audit_rows.append(
                audit.runtime_entry(runtime.owner, runtime.runtime_id, "run_claim", "lost", now, self.run_id)
            )
            self._clear_lease()
            session.stop(RunTermination("failed", "interrupted", f"{reason} while it executed the run"))

    def close(self) -> None:
        """Drops the lease and its timer, because the run is over."""
        self._clear_lease()

    async def _requeue(self, outcome: str) -> None:
        lease = self.lease
        assert lease is not None
        now = self._clock.now()
        queue_update = ledger.transition(self.run_id, "claimed", "queued", now, claimed_by="", lease_until=0)
        runtime = lease.runtime
        entry = audit.runtime_entry(runtime.owner, runtime.runtime_id, "run_claim", outcome, now, self.run_id)
        await self._journal.commit(
            Unit("run.requeue", (queue_update, remote_queue.release(self.run_id, lease.token), entry))
        )
        self._clear_lease()
        self.status = "queued"
        self.queued_at = asyncio.get_running_loop().time()
        self._observer.on_requeued(self)

    def _clear_lease(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        lease, self.lease = self.lease, None
        if lease is not None:
            self._observer.on_lease_ended(self, lease.runtime)

    def _start_timer(self, lease: Lease) -> None:
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        lease.loop_deadline = loop.time() + lease.runtime.lease_seconds
        self._timer = loop.call_at(lease.loop_deadline, self._expired, lease)

    def _expired(self, lease: Lease) -> None:
        self._expiry = asyncio.get_running_loop().create_task(self._expire(lease))

    async def _expire(self, lease: Lease) -> None:
        reason = f"runtime '{lease.runtime.runtime_id}' was not heard of for {lease.runtime.lease_seconds:g} s"
        revoke = partial(self.revoke, lease.token, reason, unless_renewed=True)
        await retry_on_storage_failure(revoke, f"the expired lease of run {self.run_id}")
