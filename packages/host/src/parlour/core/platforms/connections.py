"""The bots that delivery sends through, as it wants to see them. Connecting them is the platforms' part."""

import asyncio
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.platforms.port import Adapter


class RunningBots(Protocol):
    def adapter(self, bot_id: str) -> Adapter | None:
        """None for a bot that is not running."""
        ...

    def manifest(self, bot_id: str) -> AdapterManifest | None: ...

    def connected(self, bot_id: str) -> bool: ...

    async def until_connected(self, bot_id: str) -> None:
        """Returns when the bot is connected, or there is no such bot any more."""
        ...

    def sending(self, bot_id: str) -> AbstractContextManager[None]:
        """Held until the platform has answered; a bot that is stopped is given a moment for that."""
        ...

    def refused(self, bot_id: str, chat: str, reason: str) -> None:
        """The platform did not take a message there: whoever looks at the bot should know."""
        ...

    def unanswered(self, bot_id: str, chat: str, reason: str) -> None:
        """Whether it took a message there is not known."""
        ...

    def taken(self, bot_id: str, chat: str) -> None:
        """It did."""
        ...


class NoBots:
    def adapter(self, bot_id: str) -> Adapter | None:
        return None

    def manifest(self, bot_id: str) -> AdapterManifest | None:
        return None

    def connected(self, bot_id: str) -> bool:
        return False

    async def until_connected(self, bot_id: str) -> None:
        await asyncio.get_running_loop().create_future()

    def sending(self, bot_id: str) -> AbstractContextManager[None]:
        return nullcontext()

    def refused(self, bot_id: str, chat: str, reason: str) -> None:
        """There is nobody to look at."""

    def unanswered(self, bot_id: str, chat: str, reason: str) -> None:
        """There is nobody to look at."""

    def taken(self, bot_id: str, chat: str) -> None:
        """There is nobody to look at."""
