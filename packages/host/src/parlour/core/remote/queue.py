"""The queue of runs for remote workers: suspends the lane of each run, leases the run to one worker, and completes it.

A waiting worker is woken when a run is queued; nothing polls. `LeasedRun` handles the leases.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

from parlour.core.delivery.composer import Delivery
from parlour.core.encoding import loads
from parlour.core.errors import Refused
from parlour.core.journal import Journal
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.runner import Descriptor
from parlour.core.runs import deadline as deadlines
from parlour.core.runs import queue_result
from parlour.core.runs.active_run import LiveRun
from parlour.core.runs.outcomes import Outcomes
from parlour.core.runs.queue_result import Turn
from parlour.core.runs.session import RunSession, Sessions
from parlour.core.runs.starter import Openings
from parlour.core.store import remote_queue
from parlour.core.store.ledger import Ledger
from parlour.core.store.remote_queue import Queue
from parlour.core.store.remote_workers import Runtime, Runtimes
from parlour_sdk.values import dataclass

from .leases import Lease, LeasedRun


@dataclass(frozen=True, slots=True)
class Claimed:
    """A leased run and the request for its runner."""

    lease: Lease
    request: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The runs that a worker can execute."""

    labels: frozenset[str]
    runners: frozenset[str]
    """Ids of runners; empty for any runner."""

    def fits(self, run: LeasedRun) -> bool:
        known = not self.runners or run.descriptor.runner_id in self.runners
        return known and run.labels <= self.labels


class Bell:
    """Wakes one connection of a worker that listens for queued runs."""

    def __init__(self) -> None:
        self.rung = asyncio.Event()
        self.dismissed = False

    def dismiss(self) -> None:
        self.dismissed = True
        self.rung.set()


class Claims:
    """Queues runs for remote workers and leases them."""

    def __init__(
        self,
        journal: Journal,
        openings: Openings,
        live: LiveRun,
        sessions: Sessions,
        delivery: Delivery,
        outcomes: Outcomes,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._ledger = Ledger(journal)
        self._queue = Queue(journal)
        self._runtimes = Runtimes(journal)
        self._openings = openings
        self._live = live
        self._sessions = sessions
        self._delivery = delivery
        self._outcomes = outcomes
        self._ids = ids
        self._clock = clock
        self._runs: dict[str, LeasedRun] = {}
        self._waiting: dict[str, set[asyncio.Future[bool]]] = {}
        """Waiting claims by worker. Each is resolved with True if a run may be available, or False if the claim has to
        end.
        """
        self._bells: dict[str, set[Bell]] = {}
        """Signals by worker, of connections that listen for runs while the worker does other things."""

    def get(self, run_id: str) -> LeasedRun | None:
        return self._runs.get(run_id)

    def held_by(self, runtime_id: str) -> list[LeasedRun]:
        held = (run for run in self._runs.values() if run.lease and not run.live.session.is_over())
        return [run for run in held if run.lease and run.lease.runtime.runtime_id == runtime_id]

    async def park(self, session: RunSession, descriptor: Descriptor, labels: tuple[str, ...]) -> Turn:
        """Queues the run, or resumes one that was queued before this Host was started."""
        async with self._sessions.counting(session.run_id):
            self._sessions.announce(session)
            try:
                run = await self._queued(session, descriptor, labels)
            except BaseException:
                self._sessions.unregister(session)  # its lane retries with another session
                raise
        self._runs[session.run_id] = run
        self._sessions.register(session)
        self._delivery.run_started(session.event, session.run_id)
        parked = ParkedRun(run, self._ended, deadlines.set_timer(session, self._clock))
        self._wake_claimers()
        return Turn(parked=parked)

    async def claim(self, runtime: Runtime, wanted: Wanted, seconds: float) -> Claimed | None:
        """Leases the oldest matching run to the worker. Waits at most this many seconds for one, then returns None."""
        end = asyncio.get_running_loop().time() + seconds
        while True:
            if len(self.held_by(runtime.runtime_id)) >= runtime.slots:
                told = f"runtime '{runtime.runtime_id}' has {runtime.slots} slots, and as many runs; end one first"
                raise Refused("rate_limited", told, retryable=True)
            for run in [each for each in self._runs.values() if wanted.fits(each)]:
                claimed = await self._claim(run, runtime) if run.status == "queued" else None
                if claimed is not None:
                    return claimed
            if not await self._woken(runtime.runtime_id, end):
                return None

    async def wakeups(self, runtime: Runtime, wanted: Wanted) -> AsyncGenerator[int, None]:
        """Yields the number of runs to claim whenever there may be more; ends when the worker registers again or is
        gone.
        """
        bell = Bell()
        bells = self._bells.setdefault(runtime.runtime_id, set())
        bells.add(bell)
        try:
            while not bell.dismissed:
                bell.rung.clear()
                queued = sum(run.status == "queued" and wanted.fits(run) for run in self._runs.values())
                if queued:
                    yield queued
                await bell.rung.wait()
        finally:
            bells.discard(bell)
            if not bells and self._bells.get(runtime.runtime_id) is bells:
                del self._bells[runtime.runtime_id]

    def dismiss(self, runtime_id: str) -> None:
        """Ends all waits of this worker, because they belong to an earlier process of it or it is gone."""
        self._wake(runtime_id, again=False)
        for bell in self._bells.get(runtime_id, ()):
            bell.dismiss()

    async def _claim(self, run: LeasedRun, runtime: Runtime) -> Claimed | None:
        request = await self._openings.request(run.live.session, run.descriptor)
        if not await run.claim(runtime, self._ids.new()) or run.lease is None:
            return None
        return Claimed(run.lease, request)

    async def _woken(self, runtime_id: str, end: float) -> bool:
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
        for bells in self._bells.values():
            for bell in bells:
                bell.rung.set()

    def _wake(self, runtime_id: str, again: bool) -> None:
        for future in list(self._waiting.get(runtime_id, ())):
            if not future.done():
                future.set_result(again)

    async def _queued(self, session: RunSession, descriptor: Descriptor, labels: tuple[str, ...]) -> LeasedRun:
        if session.entry.parked:
            return await self._resumed(session, descriptor, labels)
        put = remote_queue.put(
            session.run_id, descriptor.runner_id, descriptor.plugin_id, sorted(labels), self._clock.now()
        )
        await self._openings.open(session, descriptor, "queued", put)
        return self._leased(session, descriptor, labels, "queued")

    async def _resumed(self, session: RunSession, descriptor: Descriptor, labels: tuple[str, ...]) -> LeasedRun:
        """Restores a run that was queued before a restart. Its holder could not renew the lease while the Host was
        down, and so gets a full lease from now on.
        """
        row, queued = await self._ledger.run(session.run_id), await self._queue.row(session.run_id)
        if row is None or queued is None:
            raise LookupError(f"run {session.run_id} was parked and is not in the queue")
        session.deadline_at = row["deadline_at"]
        session.shown, session.effects = bool(row["shown"]), bool(row["effects"])
        session.meter.resume(loads(row["usage"]))
        run = self._leased(session, descriptor, labels, row["status"])
        await run.live.resume()
        runtime = await self._runtimes.get(row["claimed_by"]) if queued["lease"] else None
        if runtime is not None:
            run.hold(Lease(queued["lease"], runtime, row["lease_until"]), row["status"])
        return run

    def _leased(self, session: RunSession, descriptor: Descriptor, labels: tuple[str, ...], status: Any) -> LeasedRun:
        live = self._live(session)
        return LeasedRun(live, descriptor, frozenset(labels), status, self._journal, self._clock, self._wake_claimers)

    async def _ended(self, run: LeasedRun) -> Turn:
        session = run.live.session
        try:
            aftermath = await run.live.end(session.stopping)
        finally:
            run.close()
            self._runs.pop(session.run_id, None)
            self._sessions.unregister(session)
        self._outcomes.settled(aftermath.settled)
        return queue_result.after(session.entry, session.run_id, aftermath)


class ParkedRun:
    """Keeps the lane of a remote run suspended until the run is over."""

    def __init__(self, run: LeasedRun, ended: Callable[[LeasedRun], Any], deadline: asyncio.TimerHandle | None) -> None:
        self._run = run
        self._ended = ended
        self._deadline = deadline

    async def over(self) -> None:
        await self._run.over()

    async def finish(self) -> Turn:
        if self._deadline is not None:
            self._deadline.cancel()
        turn: Turn = await self._ended(self._run)
        return turn
