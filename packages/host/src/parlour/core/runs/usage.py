"""Counts what a run uses of the Host's models and tools.

The stored usage of a run names the models with a call in progress. A call whose answer never arrived is therefore known
after a crash, and is recorded as cut off, at an unknown price.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
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
        self._counters: Counter[str] = Counter()
        self._events: list[RunEventData] = []
        self._recorded_count = 0
        self._open_calls: list[str] = []
        """Models with a call in progress."""
        self.model_failure = ""
        """Error code of the last model call; empty if that call was answered."""

    def start_call(self, kind: Kind, name: str) -> None:
        self._counters[f"{kind}_calls"] += 1
        if kind == "model":
            self._open_calls.append(name)

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
            if name not in self._open_calls:
                return  # the run ended before, and has recorded this call
            self._open_calls.remove(name)
            self.model_failure = "" if outcome == "answered" else outcome
            if outcome == REFUSED_BY_BUDGET:
                self._counters["model_calls"] -= 1  # the request was not sent to the model
        data: dict[str, Any] = {"name": name, "outcome": outcome, "milliseconds": milliseconds, **details}
        if usage is not None:
            data["usage"] = usage.model_dump(exclude_none=True)
            self._counters.update(data["usage"])
        is_unpriced = (
            usage.cost_micros is None if usage is not None else kind == "model" and outcome in UNKNOWN_COST_OUTCOMES
        )
        self._counters.update({"unpriced_calls": 1} if is_unpriced else {})
        self.record_event(f"{kind}.called", data)

    def add_host_calls(self, calls: Iterable[Mapping[str, Any] | None]) -> None:
        """Records finished model calls that the Host made for the run, such as those of filters."""
        for call in calls:
            if call is None:
                continue
            usage = call.get("usage")
            self._counters["model_calls"] += call["outcome"] != REFUSED_BY_BUDGET
            self._counters.update(usage or {})
            is_unpriced = call["outcome"] in UNKNOWN_COST_OUTCOMES if usage is None else "cost_micros" not in usage
            self._counters.update({"unpriced_calls": 1} if is_unpriced else {})
            self.record_event("model.called", dict(call))

    def record_event(self, type: str, data: dict[str, Any]) -> None:
        if self._recorded_count < MAX_RECORDED_EVENTS:
            self._recorded_count += 1
            self._events.append((type, data))

    @property
    def has_events(self) -> bool:
        return bool(self._events)

    def drain_events(self) -> list[RunEventData]:
        """Returns and clears the collected events, for the run's next unit."""
        events, self._events = self._events, []
        return events

    def restore_events(self, notes: list[RunEventData]) -> None:
        """Puts back events that could not be written."""
        self._events[:0] = notes

    def close_open_calls(self) -> None:
        """Records model calls in progress as cut off, because their usage will never be known."""
        for name in self._open_calls:
            self._counters["unpriced_calls"] += 1
            self.record_event("model.called", {"name": name, "outcome": CUT_OFF_OUTCOME})
        self._open_calls.clear()

    def resume(self, usage: Mapping[str, Any]) -> None:
        """Continues from the usage that a previous process of the Host stored; its calls in progress are recorded as
        cut off.
        """
        self._counters.update({name: amount for name, amount in usage.items() if isinstance(amount, int)})
        self._open_calls += usage.get(OPEN_CALLS_KEY, ())
        self.close_open_calls()

    def usage_elsewhere(self, reported: Mapping[str, Any]) -> dict[str, int]:
        """Returns the part of the reported usage that the Host did not count itself."""
        names = ("prompt_tokens", "completion_tokens", "cost_micros")
        return {name: max(0, int(reported.get(name) or 0) - self._counters[name]) for name in names}

    def usage(self, reported: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the usage of the whole run. A runner may report usage from elsewhere too, so the greater number
        counts.
        """
        totals = {name: max(amount, reported.get(name, 0)) for name, amount in self._counters.items()}
        return {**reported, **totals, **({OPEN_CALLS_KEY: list(self._open_calls)} if self._open_calls else {})}
