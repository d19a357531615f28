"""The result of handling an event, for its lane: the events that come next, or a suspension."""

from dataclasses import field
from typing import Protocol

from parlour.core.runs.runner_registry import Registry
from parlour_sdk.values import dataclass

from .completion import Aftermath
from .session import Entry


class Parked(Protocol):
    """Keeps a lane suspended without a slot: a run that is executed elsewhere, or an event whose runner is starting."""

    async def over(self) -> None:
        """Returns when `finish` can be called. It writes nothing, so it may be cancelled at any time."""
        ...

    async def finish(self) -> "Turn": ...


@dataclass(frozen=True, slots=True)
class Turn:
    """The result of handling one event."""

    back: list[Entry] = field(default_factory=list)
    """Events that go back to the head of the lane, in order."""
    parked: Parked | None = None
    """Set if the lane has to wait before it continues."""


@dataclass(frozen=True, slots=True)
class Expecting:
    """Suspends an event until its runner has started; then the event gets its turn."""

    entry: Entry
    runner_id: str
    registry: Registry

    async def over(self) -> None:
        await self.registry.settled(self.runner_id)

    async def finish(self) -> Turn:
        return Turn([self.entry])


def after(entry: Entry, run_id: str, aftermath: Aftermath) -> Turn:
    """Returns the events that go back to the lane: the run's own event if it is retried, and those that the run
    released.
    """
    if not aftermath.retry:
        return Turn(aftermath.owed_again)
    entry.parent_run_id, entry.run_id, entry.parked = run_id, "", False
    entry.tries = aftermath.tries
    return Turn(sorted([entry, *aftermath.owed_again], key=lambda each: each.seq))
