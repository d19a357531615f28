"""What a growing message is to the rest of delivery, and what it stands on."""

from dataclasses import dataclass
from typing import Protocol

from parlour.core.delivery.bots import RunningBots
from parlour.core.facts.outgoing import Outgoing
from parlour.core.journal import Journal
from parlour.core.ports import Clock, Ids, Sent


class Grown(Protocol):
    """A message that is, or was, shown while it grows."""

    @property
    def rows(self) -> list[Outgoing]: ...

    def grow(self, text: str) -> None: ...

    def stop(self) -> None:
        """Nothing more is shown; a call that was begun is carried out."""
        ...

    async def settled(self) -> None:
        """Stopped, and no further row of it will be."""
        ...

    async def finish(self, row: Outgoing) -> Sent:
        """The final text of one of its rows is on the platform. Raises as the platform API does."""
        ...

    async def found(self, row: Outgoing, message_id: str) -> None: ...

    async def withdraw(self, row: Outgoing) -> None: ...


@dataclass(frozen=True, slots=True)
class Stage:
    """What every growing message needs."""

    journal: Journal
    bots: RunningBots
    ids: Ids
    clock: Clock
