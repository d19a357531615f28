"""The result of handling an event, for its lane: the events that come next, or a suspension."""

from dataclasses import field
from typing import Protocol

from parlour.core.model.ids import NO_RUN, RunId, RunnerId
from parlour_sdk.values import dataclass

from .completion import RunCompletion
from .session import QueuedEvent


class Suspension(Protocol):
    """Keeps a lane suspended without a slot: a run that is executed elsewhere, or an event whose runner is starting."""

    async def wait_ready(self) -> None:
        """Returns when `finish` can be called. It writes nothing, so it may be cancelled at any time."""
        ...

    async def finish(self) -> "LaneResult": ...


class StartingRunners(Protocol):
    """Reports when runners have started."""

    async def wait_started(self, runner_id: RunnerId) -> None: ...


@dataclass(frozen=True, slots=True)
class LaneResult:
    """The result of handling one event."""

    requeued: list[QueuedEvent] = field(default_factory=list)
    """Events that go back to the head of the lane, in order."""
    suspension: Suspension | None = None
    """Set if the lane has to wait before it continues."""


@dataclass(frozen=True, slots=True)
class RunnerSuspension:
    """Suspends an event until its runner has started; then the event gets its turn."""

    entry: QueuedEvent
    runner_id: RunnerId
    runners: StartingRunners

    async def wait_ready(self) -> None:
        await self.runners.wait_started(self.runner_id)

    async def finish(self) -> LaneResult:
        return LaneResult([self.entry])


def from_completion(entry: QueuedEvent, run_id: RunId, completion: RunCompletion) -> LaneResult:
    """Returns the events that go back to the lane: the run's own event if it is retried, and those that the run
    released.
    """
    if not completion.retry:
        return LaneResult(completion.requeued)
    entry.parent_run_id, entry.run_id, entry.queued_remotely = run_id, NO_RUN, False
    entry.tries = completion.tries
    return LaneResult(sorted([entry, *completion.requeued], key=lambda each: each.seq))
