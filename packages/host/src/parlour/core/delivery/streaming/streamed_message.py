"""What a growing message is to the rest of delivery, and what it stands on."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from parlour.core.delivery.rate_limits import Pace
from parlour.core.journal import Journal
from parlour.core.model.outbox_row import Outgoing
from parlour.core.model.ports import Clock, Ids, Sent
from parlour.core.platforms.connections import RunningBots
from parlour.core.texts.languages import Languages
from parlour_sdk.protocol.limits import MESSAGE_TEXT_BYTES
from parlour_sdk.values import dataclass

GREW = "grew"
"""In a row's message: people may have seen something of it before it was whole."""


Clear = Callable[[], Coroutine[Any, Any, None]]
"""Returns when all that was said before is sent. Called by who waits for it, if anybody comes to that."""


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

    async def whole(self, row: Outgoing) -> bool:
        """Whether the final text of one of its rows is there already, so that finishing it takes no call."""
        ...

    async def finish(self, row: Outgoing) -> Sent:
        """The final text of one of its rows is on the platform. Raises as the platform API does."""
        ...

    def found(self, row: Outgoing, message_id: str) -> bool:
        """A row whose first send was never answered is there. Whether it is to be finished."""
        ...

    async def withdraw(self, row: Outgoing) -> None: ...


@dataclass(frozen=True, slots=True)
class Stage:
    """What every growing message needs."""

    journal: Journal
    bots: RunningBots
    ids: Ids
    clock: Clock
    pace: Pace
    languages: Languages


def outgrown(text: str) -> bool:
    """Whether it is longer than a message may be: in the end people get its beginning, and all of it as a file."""
    most = MESSAGE_TEXT_BYTES
    return len(text) * 4 > most and len(text.encode(errors="replace")) > most


async def until_clear(clear: Clear, closing: asyncio.Event) -> None:
    """Returns when what was said before is sent, or when nothing more is to be shown: then the whole message is behind
    it in the same line, and waits for nobody but its growing self.
    """
    waiting = [asyncio.ensure_future(clear()), asyncio.ensure_future(closing.wait())]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waiting:
            each.cancel()
