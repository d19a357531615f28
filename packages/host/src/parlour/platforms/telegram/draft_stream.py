"""Streams an answer as a draft, which the user sees while it is written. Drafts disappear; the final message counts.

A draft that Telegram refuses is skipped: the final message contains the whole text anyway.
"""

import zlib
from collections.abc import Awaitable, Callable
from typing import Any

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour_sdk.protocol.chain import MessageChain
from parlour_sdk.protocol.platform_api import MessageResult

from .client import TelegramClient
from .errors import Forbidden, Unauthorized
from .markdown import render_markdown
from .text_entities import MAX_TEXT_LENGTH, utf16_length
from .values import Payload

METHOD = "sendMessageDraft"
Finish = Callable[[MessageChain], Awaitable[MessageResult]]


class DraftSupport:
    """Knows whether this Bot API supports drafts and accepts them from this bot."""

    def __init__(self, client: TelegramClient) -> None:
        self._client = client
        self.available = False

    async def probe(self) -> None:
        """Checks whether the server has the method: if so, it complains about missing parameters."""
        try:
            await self._client.call(METHOD, {})
        except PlatformRefused as refused:
            missing = isinstance(refused, Unauthorized) or "method not found" in refused.reason.lower()
            self.available = not missing
        except PlatformUncertain:
            self.available = False

    async def send(self, params: Payload) -> None:
        """Shows a draft. Raises PlatformRefused only if Telegram asks to wait before the next one."""
        try:
            await self._client.call(METHOD, params)
        except PlatformRefused as refused:
            if refused.retry_after is not None:
                raise
            if refused.permanent and not isinstance(refused, Forbidden):
                self.available = False
        except PlatformUncertain:
            pass  # the next draft shows more


class TelegramDraftStream:
    """Stream of one answer."""

    def __init__(self, drafts: DraftSupport, place: Payload, key: str, markdown: bool, finish: Finish) -> None:
        self._drafts = drafts
        self._place: dict[str, Any] = {**place, "draft_id": zlib.crc32(key.encode()) >> 1 or 1}
        self._markdown = markdown
        self._finish = finish
        self._text = ""

    async def append(self, text: str) -> None:
        grown = self._text + text
        if self._drafts.available and grown.strip():
            shown = render_markdown(_latest(grown), self._markdown)
            await self._drafts.send({**self._place, **shown.parameters()})
        self._text = grown

    async def finish(self, chain: MessageChain) -> MessageResult:
        return await self._finish(chain)

    async def fail(self, reason: str) -> None:
        """Does nothing, because a draft disappears by itself."""


def _latest(text: str) -> str:
    """Returns the part of the text that fits into a draft."""
    if utf16_length(text) <= MAX_TEXT_LENGTH:
        return text
    return "…" + text[-MAX_TEXT_LENGTH // 2 :]
