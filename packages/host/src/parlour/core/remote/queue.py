"""The queue of runs for remote workers: suspends the lane of each run, leases the run to one worker, and completes it.

A waiting worker is woken when a run is queued; nothing polls. `LeasedRun` handles the leases.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

from parlour.core.cluster.parts import part_of
from parlour.core.encoding import loads
from parlour.core.errors import CallRejected
from parlour.core.journal import Journal
from parlour.core.model.ids import RunId, RuntimeId
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
from .run_index import RunIndex, WorkerFilter


@dataclass(frozen=True, slots=True)
class LeasedRequest:
    """A leased run and the request for its runner."""

    lease: Lease
    request: dict[str, Any]
    run: LeasedRun
    waited_seconds: float
    """Seconds that it was queued."""


@dataclass(frozen=True, slots=True)
class WorkerNotice:
    """Tells a worker that there may be runs to claim, or that runs it holds are over."""

    queued: int
    ended: tuple[RunId, ...] = ()


class WorkerSignal:
    """Wakes one connection of a worker that listens for queued runs."""

    def __init__(self) -> None:
        self.wakeup = asyncio.Event()
        self.closed = False
        self._ended: list[RunId] = []

    def run_ended(self, run_id: RunId) -> None:
        self._ended.append(run_id)
        self.wakeup.set()

    def take_ended(self) -> tuple[RunId, ...]:
        ended, self._ended = self._ended, []
        return tuple(dict.fromkeys(ended))

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
        self._runs: dict[RunId, LeasedRun] = {}
        self._index = RunIndex()
        self._waiters: dict[RuntimeId, set[asyncio.Future[bool]]] = {}
        """Waiting claims by worker. Each is resolved with True if a run may be available, or False if the claim has to
        end.
        """
        self._signals: dict[RuntimeId, set[WorkerSignal]] = {}
        """Signals by worker, of connections that listen for runs while the worker does other things."""

    def get(self, run_id: RunId) -> LeasedRun | None:
        return self._runs.get(run_id)

    def all(self) -> list[LeasedRun]:
        """Returns the runs that wait for a worker or are held by one, oldest first."""
        return sorted(self._runs.values(), key=lambda run: run.run_id)

    def held_by(self, runtime_id: RuntimeId) -> list[LeasedRun]:
        return [run for run in self._index.held_by(runtime_id) if not run.active_run.session.is_closed()]

    async def enqueue(self, session: RunSession, descriptor: RunnerDescriptor, labels: tuple[str, ...]) -> LaneResult:
        """Queues the run, or resumes one that was queued before this Host was started."""
        async with self._sessions.sequence_lock(session.run_id):
            self._sessions.register_pending(session)
            try:
                run = await self._enqueue_run(session, descriptor, labels)
            except BaseException:
                self._sessions.unregister(session)  # its lane retries with another session
                raise
        self._runs[session.run_id] = run
        if run.status == "queued":
            self._index.add(run)
        self._active_runs.announce(session)
        suspension = RemoteRunSuspension(run, self._finish_run, deadlines.set_timer(session, self._clock))
        self._wake_claimers()
        return LaneResult(suspension=suspension)

    async def claim(self, runtime: RemoteWorker, worker_filter: WorkerFilter, seconds: float) -> LeasedRequest | None:
        """Leases the oldest matching run to the worker. Waits at most this many seconds for one, then returns None."""
        end = asyncio.get_running_loop().time() + seconds
        while True:
            if self._index.used_slots(runtime.runtime_id) >= runtime.slots:
                message = f"runtime '{runtime.runtime_id}' has {runtime.slots} slots, and as many runs; end one first"
                raise CallRejected("rate_limited", message, retryable=True)
            self._index.begin_claim(runtime.runtime_id)
            try:
                while (run := self._index.take(worker_filter)) is not None:
                    leased_request = await self._claim(run, runtime)
                    if leased_request is not None:
                        return leased_request
            finally:
                self._index.end_claim(runtime.runtime_id)
            if not await self._wait_for_wakeup(runtime.runtime_id, end):
                return None

    async def watch(self, runtime: RemoteWorker, worker_filter: WorkerFilter) -> AsyncGenerator[WorkerNotice, None]:
        """Yields a notice whenever there may be more runs to claim or a held one is over; ends when the worker
        registers again or is gone.
        """
        signal = WorkerSignal()
        signals = self._signals.setdefault(runtime.runtime_id, set())
        signals.add(signal)
        try:
            while not signal.closed:
                signal.wakeup.clear()
                notice = WorkerNotice(self._index.count(worker_filter), signal.take_ended())
                if notice.queued or notice.ended:
                    yield notice
                await signal.wakeup.wait()
        finally:
            signals.discard(signal)
            if not signals and self._signals.get(runtime.runtime_id) is signals:
                del self._signals[runtime.runtime_id]

    def on_leased(self, run: LeasedRun, runtime: RemoteWorker) -> None:
        self._index.hold(run, runtime.runtime_id)

    def on_lease_ended(self, run: LeasedRun, runtime: RemoteWorker) -> None:
        self._index.drop(run, runtime.runtime_id)
        self._notify_ended(run, runtime.runtime_id)

    def on_requeued(self, run: LeasedRun) -> None:
        self._index.add_first(run)
        self._wake_claimers()

    def on_stopped(self, run: LeasedRun) -> None:
        self._index.remove(run)
        if run.lease is not None:
            self._notify_ended(run, run.lease.runtime.runtime_id)

    def cancel_waits(self, runtime_id: RuntimeId) -> None:
        """Ends all waits of this worker, because they belong to an earlier process of it or it is gone."""
        self._wake(runtime_id, may_claim=False)
        for signal in self._signals.get(runtime_id, ()):
            signal.close()

    async def _claim(self, run: LeasedRun, runtime: RemoteWorker) -> LeasedRequest | None:
        try:
            request = await self._contexts.build(run.active_run.session, run.descriptor)
            claimed = await run.claim(runtime, self._ids.new())
        except BaseException:
            if run.status == "queued" and not run.active_run.session.is_closed():
                self.on_requeued(run)
            raise
        if not claimed or run.lease is None:
            return None
        return LeasedRequest(run.lease, request, run, asyncio.get_running_loop().time() - run.queued_at)

    async def _wait_for_wakeup(self, runtime_id: RuntimeId, end: float) -> bool:
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        waiters = self._waiters.setdefault(runtime_id, set())
        waiters.add(future)
        try:
            async with asyncio.timeout_at(end):
                return await future
        except TimeoutError:
            return False
        finally:
            waiters.discard(future)
            if not waiters:
                self._waiters.pop(runtime_id, None)

    def _wake_claimers(self) -> None:
        for runtime_id in list(self._waiters):
            self._wake(runtime_id, may_claim=True)
        for signals in self._signals.values():
            for signal in signals:
                signal.wakeup.set()

    def _notify_ended(self, run: LeasedRun, runtime_id: RuntimeId) -> None:
        for signal in self._signals.get(runtime_id, ()):
            signal.run_ended(run.run_id)

    def _wake(self, runtime_id: RuntimeId, may_claim: bool) -> None:
        for future in list(self._waiters.get(runtime_id, ())):
            if not future.done():
                future.set_result(may_claim)

    async def _enqueue_run(
        self, session: RunSession, descriptor: RunnerDescriptor, labels: tuple[str, ...]
    ) -> LeasedRun:
        if session.entry.queued_remotely:
            return await self._resume_run(session, descriptor, labels)
        part = part_of(session.event.envelope.bot_id, session.event.conversation_id)
        put = remote_queue.insert(
            session.run_id, part, descriptor.runner_id, descriptor.plugin_id, sorted(labels), self._clock.now()
        )
        await self._starter.create(session, descriptor, "queued", put)
        return self._create_run(session, descriptor, labels, "queued")

    async def _resume_run(
        self, session: RunSession, descriptor: RunnerDescriptor, labels: tuple[str, ...]
    ) -> LeasedRun:
        """Restores a run that was queued before a restart. Its holder could not renew the lease while the Host was
        down, and so gets a full lease from now on.
        """
        row, queue_row = await self._ledger.get_run(session.run_id), await self._queue.get(session.run_id)
        if row is None or queue_row is None:
            raise LookupError(f"run {session.run_id} was parked and is not in the queue")
        session.deadline_at = row["deadline_at"]
        session.has_output, session.has_effects = bool(row["shown"]), bool(row["effects"])
        session.meter.resume(loads(row["usage"]))
        run = self._create_run(session, descriptor, labels, row["status"])
        await run.active_run.resume()
        runtime = await self._runtimes.get(row["claimed_by"]) if queue_row["lease"] else None
        if runtime is not None:
            run.set_lease(Lease(queue_row["lease"], runtime, row["lease_until"]), row["status"])
        return run

    def _create_run(
        self, session: RunSession, descriptor: RunnerDescriptor, labels: tuple[str, ...], status: Any
    ) -> LeasedRun:
        run = self._active_runs.create(session)
        return LeasedRun(run, descriptor, frozenset(labels), status, self._journal, self._clock, self)

    async def _finish_run(self, run: LeasedRun) -> LaneResult:
        session = run.active_run.session
        try:
            completion = await run.active_run.finish(session.stopping)
        finally:
            run.close()
            self._index.remove(run)
            self._runs.pop(session.run_id, None)
            self._sessions.unregister(session)
        self._active_runs.publish(completion)
        return lane_result.from_completion(session.entry, session.run_id, completion)


class RemoteRunSuspension:
    """Keeps the lane of a remote run suspended until the run is over."""

    def __init__(
        self, run: LeasedRun, finish_run: Callable[[LeasedRun], Any], deadline: asyncio.TimerHandle | None
    ) -> None:
        self._run = run
        self._finish_run = finish_run
        self._deadline = deadline

    async def wait_ready(self) -> None:
        await self._run.wait_until_ended()

    async def finish(self) -> LaneResult:
        if self._deadline is not None:
            self._deadline.cancel()
        result: LaneResult = await self._finish_run(self._run)
        return result
