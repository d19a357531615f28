"""The interface of streamed messages towards the rest of delivery, and their dependencies."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Protocol

from parlour.core.delivery.rate_limits import PlatformRateLimiter
from parlour.core.journal import Journal
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import Clock, Ids, SendReceipt
from parlour.core.platforms.connections import PlatformBots
from parlour.core.texts.languages import Languages
from parlour_sdk.protocol.limits import MESSAGE_TEXT_BYTES
from parlour_sdk.values import dataclass

STREAMED = "grew"
"""Key in a row's message: users may have seen a part of it before it was complete."""


WhenIdle = Callable[[], Coroutine[Any, Any, None]]
"""Waits until all earlier messages are sent. Called only if the stream has to wait."""


class StreamedMessage(Protocol):
    """A message that is or was shown while the run writes it."""

    @property
    def rows(self) -> list[OutboxRow]: ...

    @property
    def shown_text(self) -> str:
        """Text that the platform has got so far, or is getting."""
        ...

    def append_delta(self, text: str) -> None: ...

    def stop(self) -> None:
        """Stops showing text; a call that has started is completed."""
        ...

    async def stop_adding_rows(self) -> None:
        """Stops and returns when no further row will be added."""
        ...

    async def is_fully_shown(self, row: OutboxRow) -> bool:
        """Returns whether the final text of a row is already shown, so that finishing it needs no call."""
        ...

    async def finish(self, row: OutboxRow) -> SendReceipt:
        """Completes a row with its final text on the platform. Raises like the platform API."""
        ...

    def adopt_message(self, row: OutboxRow, message_id: str) -> bool:
        """Adopts a message that was found after its first send was not acknowledged. Returns whether it still has to be
        finished.
        """
        ...

    async def retract(self, row: OutboxRow) -> None: ...


@dataclass(frozen=True, slots=True)
class StreamContext:
    """The dependencies of every streamed message."""

    journal: Journal
    bots: PlatformBots
    ids: Ids
    clock: Clock
    rate_limiter: PlatformRateLimiter
    languages: Languages


def exceeds_limit(text: str) -> bool:
    """Returns whether the text exceeds the limit of a message: users then get its beginning, and the full text as a
    file.
    """
    limit = MESSAGE_TEXT_BYTES
    return len(text) * 4 > limit and len(text.encode(errors="replace")) > limit


async def wait_until_idle(wait_idle: WhenIdle, stopped: asyncio.Event) -> None:
    """Returns when earlier messages are sent, or when streaming stops.

    In the second case the final message follows in the same queue and waits for the stream itself.
    """
    waits = [asyncio.ensure_future(wait_idle()), asyncio.ensure_future(stopped.wait())]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waits:
            each.cancel()


async def wait_unless_set(stopped: asyncio.Event, seconds: float) -> None:
    """Waits for this time, or until streaming stops."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stopped.wait()
