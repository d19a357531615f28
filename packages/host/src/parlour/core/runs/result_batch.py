"""A unit of a run that is being built: its statements, its run events, and the steps after its commit.

The recorder commits it.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any

from parlour.core.journal import GuardFailed, Journal, StorageFailed, UnitBuilder
from parlour.core.model.ids import RunId
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import Clock
from parlour.core.store import ledger

from .delta_buffer import FLUSH_INTERVAL_SECONDS, DeltaBuffer
from .session import RunSession

logger = logging.getLogger(__name__)


class ResultBatch:
    """One unit of a run, with the outbox rows and callbacks that follow its commit."""

    def __init__(self, run_id: RunId, now: int) -> None:
        self.draft = UnitBuilder("run.progress")
        self.draft.add(ledger.update_progress(run_id, now))
        self.rows: list[OutboxRow] = []
        self.after_commit: list[Callable[[], None]] = []
        """Callbacks after the commit."""
        self.now = now

    @property
    def is_empty(self) -> bool:
        return len(self.draft) == 1


class RunEventWriter:
    """Adds run events to a batch, in order: buffered deltas come before whatever follows them."""

    def __init__(self, session: RunSession, deltas: DeltaBuffer) -> None:
        self._session = session
        self._deltas = deltas
        self.pending_digests: dict[int, str] = {}
        """Digests of results from calls, by sequence number, until they are written with the results."""
        self.characters = 0
        """Characters written to the ledger in total."""

    def add_result(
        self, result_batch: ResultBatch, type: str, data: Any, sequence: int, refs: Sequence[Any] = ()
    ) -> None:
        self.add_deltas(result_batch)
        self._add(result_batch, type, data, sequence, sequence, refs)

    def add_deltas(self, result_batch: ResultBatch) -> None:
        if self._deltas.has_unwritten:
            text, first, last = self._deltas.drain_unwritten()
            self._add(result_batch, "message.delta", {"chunk": {"role": "assistant", "content": text}}, first, last)

    def add_host_events(self, result_batch: ResultBatch) -> None:
        """Adds the Host's own events about the run's calls."""
        for type, data in self._session.meter.drain_events():
            number = self._session.next_sequence()
            result_batch.draft.add(
                ledger.append_event(self._session.run_id, number, type, data, result_batch.now, source="host")
            )

    def _add(
        self, result_batch: ResultBatch, type: str, data: Any, first: int, last: int, refs: Sequence[Any] = ()
    ) -> None:
        row = ledger.append_event(
            self._session.run_id,
            self._session.next_sequence(),
            type,
            data,
            result_batch.now,
            first=first,
            last=last,
            artifact_refs=refs,
            metadata=self._digests(first, last),
        )
        self.characters += len(str(row.values["data"]))
        result_batch.draft.add(row)

    def _digests(self, first: int, last: int) -> dict[str, Any]:
        numbers = [number for number in self.pending_digests if first <= number <= last]
        return {"digests": {str(number): self.pending_digests.pop(number) for number in numbers}} if numbers else {}


class DeltaFlusher:
    """Writes buffered deltas after a short interval, even if no other result follows that would include them."""

    def __init__(
        self, session: RunSession, journal: Journal, deltas: DeltaBuffer, event_writer: RunEventWriter, clock: Clock
    ) -> None:
        self._session = session
        self._journal = journal
        self._deltas = deltas
        self._event_writer = event_writer
        self._clock = clock
        self._timer: asyncio.TimerHandle | None = None
        self._flush: asyncio.Task[None] | None = None

    def schedule(self) -> None:
        if self._deltas.has_unwritten and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_INTERVAL_SECONDS, self._on_timer)

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._flush is not None:
            await self._flush

    def _on_timer(self) -> None:
        self._timer = None
        if self._deltas.has_unwritten and self._session.stopping is None:
            self._flush = asyncio.get_running_loop().create_task(self._write())

    async def _write(self) -> None:
        result_batch = ResultBatch(self._session.run_id, self._clock.now())
        self._event_writer.add_deltas(result_batch)
        result_batch.draft.name = "run.deltas"
        try:
            await self._journal.commit(result_batch.draft.build())
        except (GuardFailed, StorageFailed) as error:
            logger.warning("deltas of run %s are missing in the ledger: %s", self._session.run_id, error)
