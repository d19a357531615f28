"""A unit of a run that is being built: its statements, its run events, and the steps after its commit.

The recorder commits it.
"""

from collections.abc import Callable, Sequence
from typing import Any

from parlour.core.journal import Draft
from parlour.core.model.outbox_row import Outgoing
from parlour.core.store import ledger

from .deltas import Deltas
from .session import RunSession


class Step:
    """One unit of a run, with the outbox rows and callbacks that follow its commit."""

    def __init__(self, run_id: str, now: int) -> None:
        self.draft = Draft("run.progress")
        self.draft.add(ledger.touch(run_id, now))
        self.rows: list[Outgoing] = []
        self.then: list[Callable[[], None]] = []
        """Callbacks after the commit."""
        self.now = now

    @property
    def empty(self) -> bool:
        return len(self.draft) == 1


class Writing:
    """Adds run events to a batch, in order: buffered deltas come before whatever follows them."""

    def __init__(self, session: RunSession, deltas: Deltas) -> None:
        self._session = session
        self._deltas = deltas
        self.marked: dict[int, str] = {}
        """Digests of results from calls, by sequence number, until they are written with the results."""
        self.characters = 0
        """Characters written to the ledger in total."""

    def result(self, step: Step, type: str, data: Any, sequence: int, refs: Sequence[Any] = ()) -> None:
        self.deltas(step)
        self._add(step, type, data, sequence, sequence, refs)

    def deltas(self, step: Step) -> None:
        if self._deltas.unwritten:
            text, first, last = self._deltas.take_unwritten()
            self._add(step, "message.delta", {"chunk": {"role": "assistant", "content": text}}, first, last)

    def notes(self, step: Step) -> None:
        """Adds the Host's own events about the run's calls."""
        for type, told in self._session.meter.take_notes():
            number = self._session.next_sequence()
            step.draft.add(ledger.append(self._session.run_id, number, type, told, step.now, source="host"))

    def _add(self, step: Step, type: str, data: Any, first: int, last: int, refs: Sequence[Any] = ()) -> None:
        row = ledger.append(
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
        numbers = [number for number in self.marked if first <= number <= last]
        return {"digests": {str(number): self.marked.pop(number) for number in numbers}} if numbers else {}
