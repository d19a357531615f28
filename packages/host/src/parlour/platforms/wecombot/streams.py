"""An answer that grows: each change sends the whole text so far under the id of the stream."""

from collections.abc import Awaitable, Callable

from parlour.core.platforms.api import PlatformStream
from parlour_sdk.protocol.chain import MessageChain
from parlour_sdk.protocol.platform_api import MessageResult

from .encode import MAX_TEXT_BYTES, escape_mentions
from .replies import Reply


class WecomBotStream(PlatformStream):
    """The stream of one answer."""

    def __init__(
        self,
        reply: Reply,
        show: Callable[[Reply, str], Awaitable[None]],
        finish: Callable[[MessageChain], Awaitable[MessageResult]],
    ) -> None:
        self._reply = reply
        self._show = show
        self._finish = finish
        self._text = ""

    async def append(self, text: str) -> None:
        shown = escape_mentions(self._text + text)
        if len(shown.encode()) <= MAX_TEXT_BYTES:
            await self._show(self._reply, shown)
        self._text += text

    async def finish(self, chain: MessageChain) -> MessageResult:
        return await self._finish(chain)

    async def fail(self, reason: str) -> None:
        """Does nothing: WeCom ends a stream by itself, and its text stays."""
