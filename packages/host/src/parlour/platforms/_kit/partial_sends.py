"""Sends a message that a platform needs in several calls: another attempt continues where the last one failed."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from parlour.core.platforms.port import PlatformRefused
from parlour_sdk.protocol.platform_api import MessageResult

from .bounded_map import BoundedMap

Part = TypeVar("Part")


class PartialSends:
    """Remembers the ids of the parts that were sent, by the idempotency key of their message."""

    def __init__(self, service: str) -> None:
        self._service = service
        self._sent: BoundedMap[str, list[str]] = BoundedMap()

    async def send(
        self, key: str | None, parts: Sequence[Part], send_part: Callable[[int, Part], Awaitable[str]]
    ) -> list[str]:
        """Sends the parts that were not sent under this key before, and returns the ids of all.

        Raises PlatformRefused if there is no part.
        """
        if not parts:
            reason = f"there is nothing in this message that {self._service} could show"
            raise PlatformRefused(reason, permanent=True)
        sent = (self._sent.get(key) if key else None) or []
        if key:
            self._sent.set(key, sent)
        for number, part in enumerate(parts):
            if number >= len(sent):
                sent.append(await send_part(number, part))
        if key:
            self._sent.pop(key)
        return sent

    async def send_all(
        self, key: str | None, parts: Sequence[Part], send_part: Callable[[int, Part], Awaitable[str]]
    ) -> MessageResult:
        """Sends a message as `send`. The result has the id of its first part; `raw` has all ids."""
        sent = await self.send(key, parts, send_part)
        return MessageResult(message_id=sent[0] or None, raw={"message_ids": sent})
