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
    """Applies the results and the end of one active run, one at a time."""

    def __init__(self, session: RunSession, record: Record, recall: Recall) -> None:
        self.session = session
        self.lock = asyncio.Lock()
        """Lock for every change of the run: its results, its end and its holder."""
        self._record = record
        self._recall = recall
        self._recorder = record(session)
        self._doubtful = False
        self._aftermath: Aftermath | None = None

    async def take(self, batch: list[Any]) -> Aftermath | None:
        async with self.lock:
            return self._aftermath or await self._recorder.take(batch)

    async def end(self, ending: Ending | None) -> Aftermath:
        """Returns the completion of the run; ends it with `ending` if it has not ended yet."""
        async with self.lock:
            if self._aftermath is None:
                self._aftermath = await self._recorder.end(ending)
            return self._aftermath

    async def resume(self) -> None:
        """Reloads the progress from the ledger, for a run that continues after a restart of the Host or after a failed
        write.
        """
        progress = await self._recall(self.session.run_id)
        await self._recorder.abandon()
        self._recorder = self._record(self.session)
        await self._recorder.resume(progress)
        self.session.resume(progress.sequence)
        self._doubtful = False

    async def append(self, result: AgentRunResult) -> None:
        """Applies one result from a call. The caller holds the lock."""
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
        """Ends the run on request of a call. The caller holds the lock. A run completes only if it has sent a
        message.
        """
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
        """Reloads the progress after a failed write, because only the ledger knows which results were applied."""
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
    """Creates active runs and finds them by id."""

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
    """Returns a short digest of a result's type and data, to recognize a repeated result."""
    return hashlib.sha256(dumps([result.type, result.data]).encode()).hexdigest()[:32]
