"""Remembers which messages WhatsApp has reported as sent, by the key that came back with the report.

WhatsApp recognizes no repeated message. The key shows whether a message without an answer arrived.
"""

import asyncio
from contextlib import suppress

from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.ids import short_key
from parlour.platforms._kit.payloads import Payload, text

KEY_FIELD = "biz_opaque_callback_data"
KEY_CHARACTERS = 40
FAILED = "failed"


class DeliveryReports:
    """The reported messages of one bot."""

    def __init__(self) -> None:
        self._message_ids: BoundedMap[str, str] = BoundedMap()
        self._reported = asyncio.Event()

    def note(self, status: Payload) -> None:
        """Remembers the message of a status, whatever became of it: it is not sent again."""
        key, message_id = text(status, KEY_FIELD), text(status, "id")
        if key and message_id:
            self._message_ids.set(key, message_id)
            self._reported.set()

    def message_id(self, key: str) -> str:
        """Returns the id of the message with this key; empty if it was not reported."""
        return self._message_ids.get(key) or ""

    async def wait(self, key: str, seconds: float) -> str:
        """Waits until the message with this key is reported, and returns its id; empty if it is not in time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while key not in self._message_ids:
                    self._reported.clear()
                    await self._reported.wait()
        return self.message_id(key)


def part_key(idempotency_key: str, part: int) -> str:
    """Returns the key of a part of a message."""
    return f"{short_key(idempotency_key, KEY_CHARACTERS)}.{part}"
