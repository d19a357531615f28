"""Counters and durations since the start of the Host, in memory. The durable records are in the ledger."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Any

from parlour.core.encoding import loads
from parlour.core.journal import Insert, Unit
from parlour.core.store.tables import OUTCOMES, RUN_EVENTS, TRAIL
from parlour_sdk.values import dataclass

from .live_events import LiveEvent, derive_live_events

BUCKET_BOUNDS_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Upper bounds of the histogram's buckets in seconds."""
FINAL_RUN_STATES = frozenset(("completed", "failed", "cancelled", "timeout"))
"""Final states of runs."""
MAX_TRACKED_RUNS = 20_000
"""Maximum number of runs whose start time is kept; the oldest are dropped, and then missing from the durations."""

Labels = tuple[tuple[str, str], ...]
"""Names and values of a metric's labels."""
COUNTED_USAGE_FIELDS = (
    "prompt_tokens",
    "completion_tokens",
    "cost_micros",
    "unpriced_calls",
    "model_calls",
    "tool_calls",
)
"""Fields of a run's usage that are counted."""


@dataclass(slots=True)
class Histogram:
    """Counts durations by bucket."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKET_BOUNDS_SECONDS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BUCKET_BOUNDS_SECONDS, seconds)] += 1
        self.total += seconds


@dataclass(frozen=True, slots=True)
class Sample:
    """One value in the Prometheus format."""

    name: str
    labels: Labels
    value: float


class Metrics:
    """Counts events, runs, deliveries and denials as their units are committed."""

    def __init__(self) -> None:
        self._counters: Counter[tuple[str, Labels]] = Counter()
        self._durations = Histogram()
        self._observed: dict[tuple[str, Labels], Histogram] = {}
        self._run_start_times: dict[str, int] = {}

    def on_commit(self, unit: Unit) -> None:
        """Counts the live events of a committed unit. It is an observer of the journal."""
        for live_event in derive_live_events(unit):
            self._count(live_event)
        for statement in unit.statements:
            if isinstance(statement, Insert):
                self._count_decision(statement)

    def count(self, name: str, *labels: tuple[str, str]) -> None:
        """Adds one to a counter for something that no unit of the journal reports."""
        self._add(name, *labels)

    def observe(self, name: str, seconds: float, *labels: tuple[str, str]) -> None:
        """Adds a duration to a histogram. The values of the labels are few and fixed."""
        self._observed.setdefault((name, labels), Histogram()).add(seconds)

    def _count_decision(self, insert: Insert) -> None:
        """Counts how events ended, and the decisions of message policies."""
        if insert.table is OUTCOMES:
            self._add("parlour_outcomes_total", ("outcome", str(insert.values["outcome"])))
        elif insert.table is TRAIL and str(insert.values["step"]).startswith("policy."):
            code = loads(str(insert.values["data"])).get("code", "")
            self._add("parlour_policy_decisions_total", ("code", code))
        elif insert.table is TRAIL and insert.values["step"] == "hooks.arriving":
            self._count_hooks("message.arriving", loads(str(insert.values["data"])))
        elif insert.table is RUN_EVENTS and insert.values["type"] == "hook.asked":
            data = loads(str(insert.values["data"]))
            self._count_hooks(data["event"], data)

    def _count_hooks(self, event: str, data: dict[str, Any]) -> None:
        """Counts the answers of plugins on the path of a message."""
        for answer in data.get("hooks", ()):
            self._add("parlour_hooks_total", ("event", event), ("code", str(answer["code"])))

    def _count(self, live_event: LiveEvent) -> None:
        match live_event.kind:
            case "event":
                self._add("parlour_events_total", ("type", _type_label(str(live_event.values["event_type"]))))
            case "run":
                self._run(live_event)
            case "delivery" if live_event.state in ("sent", "failed", "expired"):
                self._add("parlour_deliveries_total", ("state", live_event.state))
            case "denial":
                self._add("parlour_denials_total", ("code", str(live_event.values["code"])))
            case _:
                return

    def _run(self, run: LiveEvent) -> None:
        if "created_at" in run.values:
            if len(self._run_start_times) >= MAX_TRACKED_RUNS:
                self._run_start_times.pop(next(iter(self._run_start_times)))
            self._run_start_times[run.id] = int(run.values["created_at"])
        if run.state not in FINAL_RUN_STATES:
            return
        self._add("parlour_runs_total", ("status", run.state))
        started_at = self._run_start_times.pop(run.id, None)
        if started_at is not None and "finished_at" in run.values:
            self._durations.add((int(run.values["finished_at"]) - started_at) / 1000)
        for name, amount in _usage_amounts(str(run.values.get("usage", ""))):
            self._add(f"parlour_{name}_total", amount=amount)

    def _add(self, name: str, *labels: tuple[str, str], amount: int = 1) -> None:
        self._counters[name, labels] += amount

    def totals(self) -> Iterator[tuple[str, int]]:
        """Yields whole numbers that only grow, each with a short name."""
        for (name, labels), value in self._counters.items():
            short_name = name.removeprefix("parlour_").removesuffix("_total")
            yield ".".join((short_name, *(text for _, text in labels))), value
        yield "run_milliseconds", round(self._durations.total * 1000)

    def samples(self) -> Iterator[Sample]:
        """Yields all counters and histograms."""
        for (name, labels), value in sorted(self._counters.items()):
            yield Sample(name, labels, value)
        yield from _buckets("parlour_run_seconds", self._durations)
        for (name, labels), histogram in sorted(self._observed.items(), key=lambda each: each[0]):
            yield from _buckets(name, histogram, labels)


def _type_label(event_type: str) -> str:
    """Returns a label for a type. A platform's own types are counted together: their names come from outside."""
    if not event_type.startswith("platform."):
        return event_type
    return f"{'.'.join(event_type.split('.')[:2])}.*"


def _usage_amounts(usage: str) -> Iterable[tuple[str, int]]:
    fields = loads(usage) if usage else {}
    return [
        (name, amount) for name, amount in fields.items() if name in COUNTED_USAGE_FIELDS and isinstance(amount, int)
    ]


def _buckets(name: str, histogram: Histogram, labels: Labels = ()) -> Iterator[Sample]:
    cumulative_count = 0
    for bound, count in zip((*BUCKET_BOUNDS_SECONDS, float("inf")), histogram.counts, strict=True):
        cumulative_count += count
        limit = "+Inf" if bound == float("inf") else f"{bound:g}"
        yield Sample(f"{name}_bucket", (*labels, ("le", limit)), cumulative_count)
    yield Sample(f"{name}_sum", labels, histogram.total)
    yield Sample(f"{name}_count", labels, cumulative_count)
