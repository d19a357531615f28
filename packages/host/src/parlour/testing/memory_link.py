"""Replaces the Host's side of an adapter: it records incoming events and reported states."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from parlour.core.model.ids import BotId
from parlour.core.platforms.port import ConnectionState, FileContent, FileUnavailable, IncomingEvent
from parlour_sdk.protocol.people import ChatType

WAIT_SECONDS = 30.0


class MemoryLink:
    def __init__(self, config: Mapping[str, Any] | None = None, bot_id: str = "bot", public_url: str = "") -> None:
        self._config = dict(config or {})
        self._bot_id = BotId(bot_id)
        self.public_url = public_url
        self.incoming: list[IncomingEvent] = []
        self.states: list[tuple[ConnectionState, str]] = []
        self.files: dict[str, FileContent] = {}
        self.held: dict[tuple[ChatType, str], int] = {}
        """Numbers of held replies, by chat."""
        self.handles: dict[tuple[ChatType, str], str] = {}
        """Handles of reply allowances, by chat, beside those of incoming events."""
        self.stored_cursor: str | None = None
        self._changed = asyncio.Event()

    @property
    def bot_id(self) -> BotId:
        return self._bot_id

    @property
    def config(self) -> Mapping[str, Any]:
        return self._config

    async def receive(self, *incoming: IncomingEvent, cursor: str | None = None) -> None:
        self.incoming.extend(incoming)
        if cursor is not None:
            self.stored_cursor = cursor
        self._changed.set()

    async def cursor(self) -> str | None:
        return self.stored_cursor

    def report_status(self, state: ConnectionState, error: str = "") -> None:
        self.states.append((state, error))
        self._changed.set()

    async def content(self, artifact_id: str) -> FileContent:
        if artifact_id not in self.files:
            raise FileUnavailable(artifact_id, f"there is no artifact '{artifact_id}'")
        return self.files[artifact_id]

    async def held_replies(self, chat_type: ChatType, chat_id: str) -> int:
        return self.held.get((chat_type, chat_id), 0)

    async def reply_handle(self, chat_type: ChatType, chat_id: str) -> str:
        own = (each for each in reversed(self.incoming) if getattr(each.event, "chat_id", "") == chat_id)
        known = (each.reply_allowance.handle for each in own if each.reply_allowance is not None)
        return next(known, self.handles.get((chat_type, chat_id), ""))

    @property
    def now(self) -> tuple[ConnectionState, str]:
        """The last reported state."""
        return self.states[-1] if self.states else ("stopped", "")

    async def until(self, condition: Callable[[], bool], seconds: float = WAIT_SECONDS) -> None:
        async with asyncio.timeout(seconds):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    def watch(self, work: asyncio.Task[Any]) -> None:
        """Lets `until` check its condition again when the task has ended."""
        work.add_done_callback(lambda _: self._changed.set())

    async def events(self, number: int) -> list[IncomingEvent]:
        """Waits until this many events have come in and returns them."""
        await self.until(lambda: len(self.incoming) >= number)
        return self.incoming
