"""What a lane is told when an event was handled: what comes next, or that the run goes on elsewhere."""

from dataclasses import field
from typing import Protocol

from parlour.core.runs.runner_registry import Registry
from parlour_sdk.values import dataclass

from .completion import Aftermath
from .session import Entry


class Parked(Protocol):
    """Something that holds its lane and no slot: a run that is executed elsewhere, or an event whose runner comes."""

    async def over(self) -> None:
        """Returns when it is to be finished. Writes nothing, and so may be given up at any time."""
        ...

    async def finish(self) -> "Turn": ...


@dataclass(frozen=True, slots=True)
class Turn:
    back: list[Entry] = field(default_factory=list)
    """What goes back to the head of the lane, in order."""
    parked: Parked | None = None


@dataclass(frozen=True, slots=True)
class Expecting:
    """An event whose runner is about to come; then it has its turn."""

    entry: Entry
    runner_id: str
    registry: Registry

    async def over(self) -> None:
        await self.registry.settled(self.runner_id)

    async def finish(self) -> Turn:
        return Turn([self.entry])


def after(entry: Entry, run_id: str, aftermath: Aftermath) -> Turn:
    """The event of a run that is tried anew, and what the run had taken in."""
    if not aftermath.retry:
        return Turn(aftermath.owed_again)
    entry.parent_run_id, entry.run_id, entry.parked = run_id, "", False
    entry.tries = aftermath.tries
    return Turn(sorted([entry, *aftermath.owed_again], key=lambda each: each.seq))
