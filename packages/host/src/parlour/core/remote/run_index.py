"""Finds queued runs by runner and labels, and held runs by their worker, without a look at every run."""

from collections import Counter

from parlour.core.model.ids import RunId, RunnerId, RuntimeId
from parlour_sdk.values import dataclass

from .leases import LeasedRun

RunKind = tuple[RunnerId, frozenset[str]]
"""Runner and labels of a run: what a worker needs to execute it."""


@dataclass(frozen=True, slots=True)
class WorkerFilter:
    """The runs that a worker can execute."""

    labels: frozenset[str]
    runners: frozenset[str]
    """Ids of runners; empty for any runner."""

    def matches(self, kind: RunKind) -> bool:
        runner_id, labels = kind
        return (not self.runners or runner_id in self.runners) and labels <= self.labels


class RunIndex:
    """The queued runs in their order, and the runs that each worker holds."""

    def __init__(self) -> None:
        self._waiting: dict[RunKind, dict[RunId, LeasedRun]] = {}
        self._held: dict[RuntimeId, dict[RunId, LeasedRun]] = {}
        self._claims: Counter[RuntimeId] = Counter()
        """Number of runs that are being claimed, by worker."""

    def add(self, run: LeasedRun) -> None:
        self._waiting.setdefault(_kind(run), {})[run.run_id] = run

    def add_first(self, run: LeasedRun) -> None:
        """Adds a run that was queued before all that wait now."""
        kind = _kind(run)
        self._waiting[kind] = {run.run_id: run, **self._waiting.get(kind, {})}

    def remove(self, run: LeasedRun) -> None:
        """Removes a run that waits for a worker; does nothing if it does not."""
        kind = _kind(run)
        waiting = self._waiting.get(kind)
        if waiting is not None and waiting.pop(run.run_id, None) is not None and not waiting:
            del self._waiting[kind]

    def count(self, worker_filter: WorkerFilter) -> int:
        return sum(len(runs) for kind, runs in self._waiting.items() if worker_filter.matches(kind))

    def take(self, worker_filter: WorkerFilter) -> LeasedRun | None:
        """Removes and returns the oldest run that matches, so that no other claim gets it."""
        candidates = [next(iter(runs.values())) for kind, runs in self._waiting.items() if worker_filter.matches(kind)]
        oldest = min(candidates, key=lambda run: run.run_id, default=None)  # ids of runs sort by time
        if oldest is not None:
            self.remove(oldest)
        return oldest

    def begin_claim(self, runtime_id: RuntimeId) -> None:
        self._claims[runtime_id] += 1

    def end_claim(self, runtime_id: RuntimeId) -> None:
        self._claims[runtime_id] -= 1
        if not self._claims[runtime_id]:
            del self._claims[runtime_id]

    def used_slots(self, runtime_id: RuntimeId) -> int:
        return len(self._held.get(runtime_id, ())) + self._claims[runtime_id]

    def hold(self, run: LeasedRun, runtime_id: RuntimeId) -> None:
        self._held.setdefault(runtime_id, {})[run.run_id] = run

    def drop(self, run: LeasedRun, runtime_id: RuntimeId) -> None:
        held = self._held.get(runtime_id, {})
        if held.pop(run.run_id, None) is not None and not held:
            del self._held[runtime_id]

    def held_by(self, runtime_id: RuntimeId) -> list[LeasedRun]:
        return list(self._held.get(runtime_id, {}).values())


def _kind(run: LeasedRun) -> RunKind:
    return run.descriptor.runner_id, run.labels
