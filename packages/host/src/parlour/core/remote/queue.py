"""The queue of runs for remote workers: suspends the lane of each run, leases the run to one worker, and completes it.

A waiting worker is woken when a run is queued; nothing polls. `LeasedRun` handles the leases.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

from parlour.core.encoding import loads
from parlour.core.errors import CallRejected
from parlour.core.journal import Journal
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.runner import RunnerDescriptor
from parlour.core.runs import deadline as deadlines
from parlour.core.runs import lane_result
from parlour.core.runs.active_run import ActiveRuns
from parlour.core.runs.context_builder import RunContextBuilder
from parlour.core.runs.lane_result import LaneResult
from parlour.core.runs.session import RunSession
from parlour.core.runs.session_registry import RunSessions
from parlour.core.runs.starter import RunStarter
from parlour.core.store import remote_queue
from parlour.core.store.ledger import Ledger
from parlour.core.store.remote_queue import RemoteQueueStore
from parlour.core.store.remote_workers import RemoteWorker, RemoteWorkerStore
from parlour_sdk.values import dataclass

from .leases import Lease, LeasedRun


@dataclass(frozen=True, slots=True)
class LeasedRequest:
    """A leased run and the request for its runner."""

    lease: Lease
    request: dict[str, Any]


@dataclass(frozen=True, slots=True)
class WorkerFilter:
    """The runs that a worker can execute."""

    labels: frozenset[str]
    runners: frozenset[str]
    """Ids of runners; empty for any runner."""

    def matches(self, run: LeasedRun) -> bool:
        known = not self.runners or run.descriptor.runner_id in self.runners
        return known and run.labels <= self.labels


class WorkerSignal:
    """Wakes one connection of a worker that listens for queued runs."""

    def __init__(self) -> None:
        self.wakeup = asyncio.Event()
        self.closed = False

    def close(self) -> None:
        self.closed = True
        self.wakeup.set()


class RemoteRunQueue:
    """Queues runs for remote workers and leases them."""

    def __init__(
        self,
        journal: Journal,
        starter: RunStarter,
        contexts: RunContextBuilder,
        active_runs: ActiveRuns,
        sessions: RunSessions,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._ledger = Ledger(journal)
        self._queue = RemoteQueueStore(journal)
        self._runtimes = RemoteWorkerStore(journal)
        self._starter = starter
        self._contexts = contexts
        self._active_runs = active_runs
        self._sessions = sessions
        self._ids = ids
        self._clock = clock
        self._runs: dict[str, LeasedRun] = {}
        self._waiting: dict[str, set[asyncio.Future[bool]]] = {}
        """Waiting claims by worker. Each is resolved with True if a run may be available, or False if the claim has to
        end.
        """
        self._signals: dict[str, set[WorkerSignal]] = {}
        """Signals by worker, of connections that listen for runs while the worker does other things."""

    def get(self, run_id: str) -> LeasedRun | None:
        return self._runs.get(run_id)

    def held_by(self, runtime_id: str) -> list[LeasedRun]:
        held = (run for run in self._runs.values() if run.lease and not run.active_run.session.is_over())
        return [run for run in held if run.lease and run.lease.runtime.runtime_id == runtime_id]

    async def enqueue(self, session: RunSession, descriptor: RunnerDescriptor, labels: tuple[str, ...]) -> LaneResult:
        """Queues the run, or resumes one that was queued before this Host was started."""
        async with self._sessions.sequence_lock(session.run_id):
            self._sessions.register_pending(session)
            try:
                run = await self._queued(session, descriptor, labels)
            except BaseException:
                self._sessions.unregister(session)  # its lane retries with another session
                raise
        self._runs[session.run_id] = run
        self._active_runs.announce(session)
        parked = RemoteRunSuspension(run, self._ended, deadlines.set_timer(session, self._clock))
        self._wake_claimers()
        return LaneResult(suspension=parked)

    async def claim(self, runtime: RemoteWorker, wanted: WorkerFilter, seconds: float) -> LeasedRequest | None:
        """Leases the oldest matching run to the worker. Waits at most this many seconds for one, then returns None."""
        end = asyncio.get_running_loop().time() + seconds
        while True:
            if len(self.held_by(runtime.runtime_id)) >= runtime.slots:
                told = f"runtime '{runtime.runtime_id}' has {runtime.slots} slots, and as many runs; end one first"
                raise CallRejected("rate_limited", told, retryable=True)
            for run in [each for each in self._runs.values() if wanted.matches(each)]:
                claimed = await self._claim(run, runtime) if run.status == "queued" else None
                if claimed is not None:
                    return claimed
            if not await self._wait_for_wakeup(runtime.runtime_id, end):
                return None

    async def wakeups(self, runtime: RemoteWorker, wanted: WorkerFilter) -> AsyncGenerator[int, None]:
        """Yields the number of runs to claim whenever there may be more; ends when the worker registers again or is
        gone.
        """
        bell = WorkerSignal()
        bells = self._signals.setdefault(runtime.runtime_id, set())
        bells.add(bell)
        try:
            while not bell.closed:
                bell.wakeup.clear()
                queued = sum(run.status == "queued" and wanted.matches(run) for run in self._runs.values())
                if queued:
                    yield queued
                await bell.wakeup.wait()
        finally:
            bells.discard(bell)
            if not bells and self._signals.get(runtime.runtime_id) is bells:
                del self._signals[runtime.runtime_id]

    def cancel_waits(self, runtime_id: str) -> None:
        """Ends all waits of this worker, because they belong to an earlier process of it or it is gone."""
        self._wake(runtime_id, again=False)
        for bell in self._signals.get(runtime_id, ()):
            bell.close()

    async def _claim(self, run: LeasedRun, runtime: RemoteWorker) -> LeasedRequest | None:
        request = await self._contexts.build(run.active_run.session, run.descriptor)
        if not await run.claim(runtime, self._ids.new()) or run.lease is None:
            return None
        return LeasedRequest(run.lease, request)

    async def _wait_for_wakeup(self, runtime_id: str, end: float) -> bool:
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault(runtime_id, set())
        waiting.add(future)
        try:
            async with asyncio.timeout_at(end):
                return await future
        except TimeoutError:
            return False
        finally:
            waiting.discard(future)
            if not waiting:
                self._waiting.pop(runtime_id, None)

    def _wake_claimers(self) -> None:
        for runtime_id in list(self._waiting):
            self._wake(runtime_id, again=True)
        for bells in self._signals.values():
            for bell in bells:
                bell.wakeup.set()

    def _wake(self, runtime_id: str, again: bool) -> None:
        for future in list(self._waiting.get(runtime_id, ())):
            if not future.done():
                future.set_result(again)

    async def _queued(self, session: RunSession, descriptor: RunnerDescriptor, labels: tuple[str, ...]) -> LeasedRun:
        if session.entry.queued_remotely:
            return await self._resumed(session, descriptor, labels)
        put = remote_queue.insert(
            session.run_id, descriptor.runner_id, descriptor.plugin_id, sorted(labels), self._clock.now()
        )
        await self._starter.create(session, descriptor, "queued", put)
        return self._leased(session, descriptor, labels, "queued")

    async def _resumed(self, session: RunSession, descriptor: RunnerDescriptor, labels: tuple[str, ...]) -> LeasedRun:
        """Restores a run that was queued before a restart. Its holder could not renew the lease while the Host was
        down, and so gets a full lease from now on.
        """
        row, queued = await self._ledger.get_run(session.run_id), await self._queue.get(session.run_id)
        if row is None or queued is None:
            raise LookupError(f"run {session.run_id} was parked and is not in the queue")
        session.deadline_at = row["deadline_at"]
        session.has_output, session.has_effects = bool(row["shown"]), bool(row["effects"])
        session.meter.resume(loads(row["usage"]))
        run = self._leased(session, descriptor, labels, row["status"])
        await run.active_run.resume()
        runtime = await self._runtimes.get(row["claimed_by"]) if queued["lease"] else None
        if runtime is not None:
            run.set_lease(Lease(queued["lease"], runtime, row["lease_until"]), row["status"])
        return run

    def _leased(
        self, session: RunSession, descriptor: RunnerDescriptor, labels: tuple[str, ...], status: Any
    ) -> LeasedRun:
        run = self._active_runs.create(session)
        return LeasedRun(run, descriptor, frozenset(labels), status, self._journal, self._clock, self._wake_claimers)

    async def _ended(self, run: LeasedRun) -> LaneResult:
        session = run.active_run.session
        try:
            aftermath = await run.active_run.finish(session.stopping)
        finally:
            run.close()
            self._runs.pop(session.run_id, None)
            self._sessions.unregister(session)
        self._active_runs.publish(aftermath)
        return lane_result.from_completion(session.entry, session.run_id, aftermath)


class RemoteRunSuspension:
    """Keeps the lane of a remote run suspended until the run is over."""

    def __init__(self, run: LeasedRun, ended: Callable[[LeasedRun], Any], deadline: asyncio.TimerHandle | None) -> None:
        self._run = run
        self._ended = ended
        self._deadline = deadline

    async def wait_ready(self) -> None:
        await self._run.wait_over()

    async def finish(self) -> LaneResult:
        if self._deadline is not None:
            self._deadline.cancel()
        turn: LaneResult = await self._ended(self._run)
        return turn
