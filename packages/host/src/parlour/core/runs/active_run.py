"""An active run with the recorder that applies its results, from its own stream or from calls of a plugin.

A result from a call is identified by its sequence number: the same result again is accepted silently, a different one
is rejected.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from parlour.core.delivery.publisher import DeliveryPublisher
from parlour.core.delivery.service import DeliveryService
from parlour.core.encoding import dumps
from parlour.core.errors import CallRejected
from parlour.core.journal import GuardFailed, Journal, StorageFailed
from parlour.core.model.ids import RunId
from parlour.core.model.ports import Clock, Ids
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.ledger import Ledger
from parlour_sdk.protocol.results import AgentRunResult

from .action_plan import ActionPlanner
from .completion import RunCompleter, RunCompletion
from .outcomes import Outcomes
from .output_publisher import OutputPublisher
from .recorder import Recorder
from .results import InvalidResult, parse_effect
from .run_state import RunProgress, load_progress
from .session import RunSession, RunStopped, RunTermination
from .session_registry import RunSessions

Record = Callable[[RunSession], Recorder]
Recall = Callable[[RunId], Awaitable[RunProgress]]


class ActiveRun:
    """Applies the results and the end of one active run, one at a time."""

    def __init__(self, session: RunSession, record: Record, load_progress: Recall) -> None:
        self.session = session
        self.lock = asyncio.Lock()
        """Lock for every change of the run: its results, its end and its holder."""
        self._record = record
        self._load_progress = load_progress
        self._recorder = record(session)
        self._uncertain = False
        self._completion: RunCompletion | None = None

    async def apply(self, batch: list[Any]) -> RunCompletion | None:
        async with self.lock:
            return self._completion or await self._recorder.apply(batch)

    async def finish(self, termination: RunTermination | None) -> RunCompletion:
        """Returns the completion of the run; ends it with `termination` if it has not ended yet."""
        async with self.lock:
            if self._completion is None:
                self._completion = await self._recorder.finish(termination)
            return self._completion

    async def resume(self) -> None:
        """Reloads the progress from the ledger, for a run that continues after a restart of the Host or after a failed
        write.
        """
        progress = await self._load_progress(self.session.run_id)
        await self._recorder.abandon()
        self._recorder = self._record(self.session)
        await self._recorder.resume(progress)
        self.session.resume(progress.sequence)
        self._uncertain = False

    async def append(self, result: AgentRunResult) -> None:
        """Applies one result from a call. The caller holds the lock."""
        await self._reload_if_uncertain()
        self._check_open()
        sequence = result.sequence if result.sequence is not None else self._recorder.next_result_sequence
        effect = parse_effect(result.type, result.data, sequence)
        if isinstance(effect, InvalidResult):
            raise CallRejected("invalid_argument", effect.warning)
        digest = result_digest(result)
        if self._recorder.has_applied(sequence):
            await self._compare(sequence, digest)
            return
        self._recorder.pending_digests[sequence] = digest
        raw = {**result.model_dump(mode="json"), "sequence": sequence}
        self._set_completion(await self._await_write(self._recorder.apply([raw])))

    async def append_all(self, results: list[Any]) -> bool:
        """Applies results that a worker process streams, and skips those that were applied before. The caller holds
        the lock. Returns True if the run is over.
        """
        await self._reload_if_uncertain()
        if self._completion is None and not self.session.is_closed():
            new_results = [each for each in results if not self._recorder.has_applied(each["sequence"])]
            if new_results:
                self._set_completion(await self._await_write(self._recorder.apply(new_results)))
        return self._completion is not None or self.session.is_closed()

    async def finalize(self, termination: RunTermination) -> None:
        """Ends the run on request of a call. The caller holds the lock. A run completes only if it has sent a
        message.
        """
        await self._reload_if_uncertain()
        self._check_open()
        self._set_completion(
            await self._await_write(self._recorder.finish(None if termination.status == "completed" else termination))
        )

    def _set_completion(self, completion: RunCompletion | None) -> None:
        if completion is not None:
            self._completion = completion
            if self.session.stream is not None:
                self.session.stream.abort(RunStopped())

    async def _await_write(self, work: Awaitable[RunCompletion | None]) -> RunCompletion | None:
        try:
            return await work
        except (GuardFailed, StorageFailed):
            self._uncertain = True
            raise

    async def _reload_if_uncertain(self) -> None:
        """Reloads the progress after a failed write, because only the ledger knows which results were applied."""
        if self._uncertain:
            await self.resume()

    def _check_open(self) -> None:
        if not self.session.is_closed():
            return
        stopping = self.session.stopping
        code = {"cancelled": "cancelled", "timeout": "deadline_exceeded"}.get(stopping.status if stopping else "")
        raise CallRejected(code or "unauthorized", "the run is over; nothing more is taken from it")

    async def _compare(self, sequence: int, digest: str) -> None:
        stored_digest = self._recorder.pending_digests.get(sequence) or (
            await self._load_progress(self.session.run_id)
        ).digest(sequence)
        if stored_digest != digest:
            message = f"result.sequence: result {sequence} was taken before, with other content"
            raise CallRejected(
                "invalid_argument", f"{message}; the next number is {self._recorder.next_result_sequence}"
            )


class RecorderFactory:
    """Creates the recorders of runs."""

    def __init__(
        self,
        journal: Journal,
        artifacts: ArtifactService,
        delivery: DeliveryService,
        planner: ActionPlanner,
        completer: RunCompleter,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._artifacts = artifacts
        self._delivery = delivery
        self._planner = planner
        self._completer = completer
        self._ids = ids
        self._clock = clock

    def create(self, session: RunSession) -> Recorder:
        publisher = OutputPublisher(session, self._delivery, self._ids)
        return Recorder(session, self._journal, self._artifacts, publisher, self._planner, self._completer, self._clock)


class ActiveRuns:
    """Creates active runs, finds them by id, and publishes their start and their outcomes."""

    def __init__(
        self,
        journal: Journal,
        recorders: RecorderFactory,
        sessions: RunSessions,
        publisher: DeliveryPublisher,
        outcomes: Outcomes,
    ) -> None:
        self._load_progress = partial(load_progress, Ledger(journal))
        self._recorders = recorders
        self._sessions = sessions
        self._publisher = publisher
        self._outcomes = outcomes
        self._by_run_id: WeakValueDictionary[RunId, ActiveRun] = WeakValueDictionary()

    def announce(self, session: RunSession) -> None:
        """Makes a started run the active one of its lane, and publishes its start."""
        self._sessions.register(session)
        self._publisher.run_started(session.event, session.run_id)

    def create(self, session: RunSession) -> ActiveRun:
        run = ActiveRun(session, self._recorders.create, self._load_progress)
        self._by_run_id[session.run_id] = run
        return run

    def find(self, run_id: RunId) -> ActiveRun | None:
        return self._by_run_id.get(run_id)

    def publish(self, completion: RunCompletion) -> None:
        """Publishes the outcomes of the events that a run completed."""
        self._outcomes.publish(completion.outcomes)


def result_digest(result: AgentRunResult) -> str:
    """Returns a short digest of a result's type and data, to recognize a repeated result."""
    return hashlib.sha256(dumps([result.type, result.data]).encode()).hexdigest()[:32]
