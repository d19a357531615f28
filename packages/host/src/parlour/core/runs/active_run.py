"""A run that goes on, with what applies its results: those of its own stream and those handed in from outside.

A result that is handed in is known by its number: the same once more is accepted silently, another is refused.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from parlour.core.delivery.composer import Delivery
from parlour.core.encoding import dumps
from parlour.core.errors import Refused
from parlour.core.journal import GuardFailed, Journal, StorageFailed
from parlour.core.model.ports import Clock, Ids
from parlour.core.store.artifact_service import Artifacts
from parlour.core.store.ledger import Ledger
from parlour_sdk.protocol.results import AgentRunResult

from .action_plan import ActionPlanner
from .completion import Aftermath, Endings
from .recorder import Recorder
from .results import Ignored, effect_of
from .run_state import Progress, recall
from .session import Ending, RunSession, Stopped

Record = Callable[[RunSession], Recorder]
Recall = Callable[[str], Awaitable[Progress]]


class Live:
    def __init__(self, session: RunSession, record: Record, recall: Recall) -> None:
        self.session = session
        self.lock = asyncio.Lock()
        """Held while the run is changed: its results, its end, and whose it is."""
        self._record = record
        self._recall = recall
        self._recorder = record(session)
        self._doubtful = False
        self._aftermath: Aftermath | None = None

    async def take(self, batch: list[Any]) -> Aftermath | None:
        async with self.lock:
            return self._aftermath or await self._recorder.take(batch)

    async def end(self, ending: Ending | None) -> Aftermath:
        """How it ended, if it did; otherwise it ends so."""
        async with self.lock:
            if self._aftermath is None:
                self._aftermath = await self._recorder.end(ending)
            return self._aftermath

    async def resume(self) -> None:
        """Begins with what the ledger holds of a run that goes on after its Host was gone."""
        progress = await self._recall(self.session.run_id)
        await self._recorder.abandon()
        self._recorder = self._record(self.session)
        await self._recorder.resume(progress)
        self.session.resume(progress.sequence)
        self._doubtful = False

    async def append(self, result: AgentRunResult) -> None:
        """The lock is held."""
        await self._trust()
        self._check_open()
        sequence = result.sequence if result.sequence is not None else self._recorder.next_result
        effect = effect_of(result.type, result.data, sequence)
        if isinstance(effect, Ignored):
            raise Refused("invalid_argument", effect.warning)
        mark = digest(result)
        if self._recorder.has_taken(sequence):
            await self._compare(sequence, mark)
            return
        self._recorder.marked[sequence] = mark
        raw = {**result.model_dump(mode="json"), "sequence": sequence}
        self._ended(await self._carried_out(self._recorder.take([raw])))

    async def finalize(self, ending: Ending) -> None:
        """The lock is held. A run completes only if it said something."""
        await self._trust()
        self._check_open()
        self._ended(await self._carried_out(self._recorder.end(None if ending.status == "completed" else ending)))

    def _ended(self, aftermath: Aftermath | None) -> None:
        if aftermath is not None:
            self._aftermath = aftermath
            if self.session.stream is not None:
                self.session.stream.abort(Stopped())

    async def _carried_out(self, work: Awaitable[Aftermath | None]) -> Aftermath | None:
        try:
            return await work
        except (GuardFailed, StorageFailed):
            self._doubtful = True
            raise

    async def _trust(self) -> None:
        """After a failure memory is not trusted: what was taken is what the ledger holds."""
        if self._doubtful:
            await self.resume()

    def _check_open(self) -> None:
        if not self.session.is_over():
            return
        stopping = self.session.stopping
        code = {"cancelled": "cancelled", "timeout": "deadline_exceeded"}.get(stopping.status if stopping else "")
        raise Refused(code or "unauthorized", "the run is over; nothing more is taken from it")

    async def _compare(self, sequence: int, mark: str) -> None:
        known = self._recorder.marked.get(sequence) or (await self._recall(self.session.run_id)).digest(sequence)
        if known != mark:
            told = f"result.sequence: result {sequence} was taken before, with other content"
            raise Refused("invalid_argument", f"{told}; the next number is {self._recorder.next_result}")


LiveRun = Callable[[RunSession], Live]


class Recording:
    """Makes live runs, and finds those that go on."""

    def __init__(
        self,
        journal: Journal,
        artifacts: Artifacts,
        delivery: Delivery,
        planner: ActionPlanner,
        endings: Endings,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._planner = planner
        self._journal = journal
        self._artifacts = artifacts
        self._delivery = delivery
        self._endings = endings
        self._ids = ids
        self._clock = clock
        self._lives: WeakValueDictionary[str, Live] = WeakValueDictionary()

    def live(self, session: RunSession) -> Live:
        live = Live(session, self._recorder, partial(recall, Ledger(self._journal)))
        self._lives[session.run_id] = live
        return live

    def find(self, run_id: str) -> Live | None:
        return self._lives.get(run_id)

    def _recorder(self, session: RunSession) -> Recorder:
        return Recorder(
            session,
            self._journal,
            self._artifacts,
            self._delivery,
            self._planner,
            self._endings,
            self._ids,
            self._clock,
        )


def digest(result: AgentRunResult) -> str:
    return hashlib.sha256(dumps([result.type, result.data]).encode()).hexdigest()[:32]
