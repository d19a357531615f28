"""What a run used of the Host's models and tools, as the Host counted it."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal

from parlour_sdk.protocol.usage import Usage

NOTES = 1000
"""Calls that are told of in the ledger one by one; those beyond are counted only."""

Kind = Literal["model", "tool"]
Note = tuple[str, dict[str, Any]]


class Meter:
    def __init__(self) -> None:
        self._counted: Counter[str] = Counter()
        self._notes: list[Note] = []
        self._noted = 0

    def began(self, kind: Kind) -> None:
        self._counted[f"{kind}_calls"] += 1

    def ended(self, kind: Kind, name: str, outcome: str, milliseconds: int, usage: Usage | None) -> None:
        told: dict[str, Any] = {"name": name, "outcome": outcome, "milliseconds": milliseconds}
        if usage is not None:
            told["usage"] = usage.model_dump(exclude_none=True)
            self._counted.update(told["usage"])
            self._counted.update({"unpriced_calls": 1} if usage.cost_micros is None else {})
        self.note(f"{kind}.called", told)

    def note(self, type: str, told: dict[str, Any]) -> None:
        if self._noted < NOTES:
            self._noted += 1
            self._notes.append((type, told))

    @property
    def has_notes(self) -> bool:
        return bool(self._notes)

    def take_notes(self) -> list[Note]:
        """For the ledger, with the run's next write."""
        taken, self._notes = self._notes, []
        return taken

    def put_back(self, notes: list[Note]) -> None:
        """They could not be written."""
        self._notes[:0] = notes

    def resume(self, usage: Mapping[str, Any]) -> None:
        """What another life of the Host had counted."""
        self._counted.update({name: used for name, used in usage.items() if isinstance(used, int)})

    def usage(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Of the whole run. A runner may tell of what it used elsewhere too, so the greater number holds."""
        return {**said, **{name: max(used, said.get(name, 0)) for name, used in self._counted.items()}}
