"""The port through which delivery uses bots. The package `parlour.platforms` connects them."""

import asyncio
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from parlour.core.model.ids import BotId
from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.platforms.port import Adapter


class PlatformBots(Protocol):
    """The bots of this Host and their connections."""

    def adapter(self, bot_id: BotId) -> Adapter | None:
        """Returns the adapter of a bot; None if the bot is not running."""
        ...

    def manifest(self, bot_id: BotId) -> AdapterManifest | None: ...

    def is_connected(self, bot_id: BotId) -> bool: ...

    async def wait_connected(self, bot_id: BotId) -> None:
        """Returns when the bot is connected, or when it does not exist any more."""
        ...

    def track_send(self, bot_id: BotId) -> AbstractContextManager[None]:
        """Tracks a send until the platform has responded; a bot that is stopped waits a moment for it."""
        ...

    def record_rejected(self, bot_id: BotId, chat: str, reason: str) -> None:
        """Records that the platform rejected a message, to show it in the bot's status."""
        ...

    def record_unacknowledged(self, bot_id: BotId, chat: str, reason: str) -> None:
        """Records that a send was not acknowledged."""
        ...

    def record_accepted(self, bot_id: BotId, chat: str) -> None:
        """Records that the platform accepted a message."""
        ...


class NullBots:
    """A Host without bots."""

    def adapter(self, bot_id: BotId) -> Adapter | None:
        return None

    def manifest(self, bot_id: BotId) -> AdapterManifest | None:
        return None

    def is_connected(self, bot_id: BotId) -> bool:
        return False

    async def wait_connected(self, bot_id: BotId) -> None:
        await asyncio.get_running_loop().create_future()

    def track_send(self, bot_id: BotId) -> AbstractContextManager[None]:
        return nullcontext()

    def record_rejected(self, bot_id: BotId, chat: str, reason: str) -> None:
        """Does nothing."""

    def record_unacknowledged(self, bot_id: BotId, chat: str, reason: str) -> None:
        """Does nothing."""

    def record_accepted(self, bot_id: BotId, chat: str) -> None:
        """Does nothing."""
