"""Counts what a run uses of the Host's models and tools.

The stored usage of a run names the models with a call in progress. A call whose answer never arrived is therefore known
after a crash, and is recorded as cut off, at an unknown price.
"""

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from parlour.core.model.providers import POSSIBLY_CHARGED_CODES
from parlour_sdk.protocol.usage import Usage

OPEN_CALLS_KEY = "calling"
CUT_OFF_OUTCOME = "cut_off"
REFUSED_BY_BUDGET = "budget_exceeded"
UNKNOWN_COST_OUTCOMES = (CUT_OFF_OUTCOME, "abandoned", *POSSIBLY_CHARGED_CODES)
"""Outcomes of a call that may have cost something, although no usage was reported."""
MAX_RECORDED_EVENTS = 1000
"""Maximum calls that are recorded in the ledger one by one; those beyond are only counted."""

Kind = Literal["model", "tool"]
RunEventData = tuple[str, dict[str, Any]]


class RunMeter:
    """Counts the calls and usage of one run, and collects ledger events about them."""

    def __init__(self) -> None:
        self._counted: Counter[str] = Counter()
        self._notes: list[RunEventData] = []
        self._noted = 0
        self._calling: list[str] = []
        """Models with a call in progress."""
        self.model_failure = ""
        """Error code of the last model call; empty if that call was answered."""

    def start_call(self, kind: Kind, name: str) -> None:
        self._counted[f"{kind}_calls"] += 1
        if kind == "model":
            self._calling.append(name)

    def end_call(
        self,
        kind: Kind,
        name: str,
        outcome: str,
        milliseconds: int,
        usage: Usage | None,
        details: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """Records the end of a call. `details` are written to the ledger as they are, such as when the call began."""
        if kind == "model":
            if name not in self._calling:
                return  # the run ended before, and has recorded this call
            self._calling.remove(name)
            self.model_failure = "" if outcome == "answered" else outcome
            if outcome == REFUSED_BY_BUDGET:
                self._counted["model_calls"] -= 1  # the request was not sent to the model
        told: dict[str, Any] = {"name": name, "outcome": outcome, "milliseconds": milliseconds, **details}
        if usage is not None:
            told["usage"] = usage.model_dump(exclude_none=True)
            self._counted.update(told["usage"])
        unpriced = (
            usage.cost_micros is None if usage is not None else kind == "model" and outcome in UNKNOWN_COST_OUTCOMES
        )
        self._counted.update({"unpriced_calls": 1} if unpriced else {})
        self.record_event(f"{kind}.called", told)

    def record_event(self, type: str, told: dict[str, Any]) -> None:
        if self._noted < MAX_RECORDED_EVENTS:
            self._noted += 1
            self._notes.append((type, told))

    @property
    def has_events(self) -> bool:
        return bool(self._notes)

    def drain_events(self) -> list[RunEventData]:
        """Returns and clears the collected events, for the run's next unit."""
        taken, self._notes = self._notes, []
        return taken

    def restore_events(self, notes: list[RunEventData]) -> None:
        """Puts back events that could not be written."""
        self._notes[:0] = notes

    def close_open_calls(self) -> None:
        """Records model calls in progress as cut off, because their usage will never be known."""
        for name in self._calling:
            self._counted["unpriced_calls"] += 1
            self.record_event("model.called", {"name": name, "outcome": CUT_OFF_OUTCOME})
        self._calling.clear()

    def resume(self, usage: Mapping[str, Any]) -> None:
        """Continues from the usage that a previous process of the Host stored; its calls in progress are recorded as
        cut off.
        """
        self._counted.update({name: used for name, used in usage.items() if isinstance(used, int)})
        self._calling += usage.get(OPEN_CALLS_KEY, ())
        self.close_open_calls()

    def usage(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the usage of the whole run. A runner may report usage from elsewhere too, so the greater number
        counts.
        """
        counted = {name: max(used, said.get(name, 0)) for name, used in self._counted.items()}
        return {**said, **counted, **({OPEN_CALLS_KEY: list(self._calling)} if self._calling else {})}
