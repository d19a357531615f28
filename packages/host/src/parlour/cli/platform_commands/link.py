"""The Host's side of a probed adapter: it stores nothing, and remembers what came in."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from parlour.core.model.ids import BotId
from parlour.core.platforms.port import ConnectionState, FileContent, FileUnavailable, IncomingEvent
from parlour_sdk.protocol.people import ChatType


class ProbeLink:
    def __init__(
        self, bot_id: BotId, config: Mapping[str, Any], public_url: str, cursor: str | None, say: Callable[[str], None]
    ) -> None:
        self.bot_id = bot_id
        self.config = config
        self.public_url = public_url
        self._cursor = cursor
        self._say = say
        self.incoming: list[IncomingEvent] = []
        self.state: ConnectionState = "connecting"
        self.changed = asyncio.Event()

    async def receive(self, *incoming: IncomingEvent, cursor: str | None = None) -> None:
        """Remembers the events. The position is not stored, so that a Host gets what the platform still has."""
        self.incoming += incoming
        self.changed.set()

    async def cursor(self) -> str | None:
        return self._cursor

    def report_status(self, state: ConnectionState, error: str = "") -> None:
        if (state, error) != (self.state, ""):
            self._say(f"  [{state}{f': {error}' if error else ''}]")
        self.state = state
        self.changed.set()

    async def content(self, artifact_id: str) -> FileContent:
        raise FileUnavailable(artifact_id, "a probe has no artifacts")

    async def held_replies(self, chat_type: ChatType, chat_id: str) -> int:
        return 0

    async def reply_handle(self, chat_type: ChatType, chat_id: str) -> str:
        own = (each for each in reversed(self.incoming) if getattr(each.event, "chat_id", "") == chat_id)
        return next((each.reply_allowance.handle for each in own if each.reply_allowance is not None), "")
