"""The interface of streamed messages towards the rest of delivery, and their dependencies."""

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
"""Key in a row's message: users may have seen a part of it before it was complete."""


Clear = Callable[[], Coroutine[Any, Any, None]]
"""Waits until all earlier messages are sent. Called only if the stream has to wait."""


class Grown(Protocol):
    """A message that is or was shown while the run writes it."""

    @property
    def rows(self) -> list[Outgoing]: ...

    def grow(self, text: str) -> None: ...

    def stop(self) -> None:
        """Stops showing text; a call that has started is completed."""
        ...

    async def settled(self) -> None:
        """Stops and returns when no further row will be added."""
        ...

    async def whole(self, row: Outgoing) -> bool:
        """Returns whether the final text of a row is already shown, so that finishing it needs no call."""
        ...

    async def finish(self, row: Outgoing) -> Sent:
        """Completes a row with its final text on the platform. Raises like the platform API."""
        ...

    def found(self, row: Outgoing, message_id: str) -> bool:
        """Adopts a message that was found after its first send was not acknowledged. Returns whether it still has to be
        finished.
        """
        ...

    async def withdraw(self, row: Outgoing) -> None: ...


@dataclass(frozen=True, slots=True)
class Stage:
    """The dependencies of every streamed message."""

    journal: Journal
    bots: RunningBots
    ids: Ids
    clock: Clock
    pace: Pace
    languages: Languages


def outgrown(text: str) -> bool:
    """Returns whether the text exceeds the limit of a message: users then get its beginning, and the full text as a
    file.
    """
    most = MESSAGE_TEXT_BYTES
    return len(text) * 4 > most and len(text.encode(errors="replace")) > most


async def until_clear(clear: Clear, closing: asyncio.Event) -> None:
    """Returns when earlier messages are sent, or when streaming stops.

    In the second case the final message follows in the same queue and waits for the stream itself.
    """
    waiting = [asyncio.ensure_future(clear()), asyncio.ensure_future(closing.wait())]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waiting:
            each.cancel()
