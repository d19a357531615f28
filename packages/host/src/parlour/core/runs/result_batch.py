"""A unit of a run that is being built: its statements, its run events, and the steps after its commit.

The recorder commits it.
"""

from collections.abc import Callable, Sequence
from typing import Any

from parlour.core.journal import UnitBuilder
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.store import ledger

from .delta_buffer import DeltaBuffer
from .session import RunSession


class ResultBatch:
    """One unit of a run, with the outbox rows and callbacks that follow its commit."""

    def __init__(self, run_id: str, now: int) -> None:
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

    def add_result(self, step: ResultBatch, type: str, data: Any, sequence: int, refs: Sequence[Any] = ()) -> None:
        self.add_deltas(step)
        self._add(step, type, data, sequence, sequence, refs)

    def add_deltas(self, step: ResultBatch) -> None:
        if self._deltas.has_unwritten:
            text, first, last = self._deltas.drain_unwritten()
            self._add(step, "message.delta", {"chunk": {"role": "assistant", "content": text}}, first, last)

    def add_host_events(self, step: ResultBatch) -> None:
        """Adds the Host's own events about the run's calls."""
        for type, told in self._session.meter.drain_events():
            number = self._session.next_sequence()
            step.draft.add(ledger.append_event(self._session.run_id, number, type, told, step.now, source="host"))

    def _add(self, step: ResultBatch, type: str, data: Any, first: int, last: int, refs: Sequence[Any] = ()) -> None:
        row = ledger.append_event(
            self._session.run_id,
            self._session.next_sequence(),
            type,
            data,
            step.now,
            first=first,
            last=last,
            artifact_refs=refs,
            metadata=self._digests(first, last),
        )
        self.characters += len(str(row.values["data"]))
        step.draft.add(row)

    def _digests(self, first: int, last: int) -> dict[str, Any]:
        numbers = [number for number in self.pending_digests if first <= number <= last]
        return {"digests": {str(number): self.pending_digests.pop(number) for number in numbers}} if numbers else {}
