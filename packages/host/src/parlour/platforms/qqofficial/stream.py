"""An answer that grows in a private chat: each change replaces the whole text, under a number that grows."""

from collections.abc import Awaitable, Callable

from parlour.core.platforms.api import PlatformStream
from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.payloads import Payload, text
from parlour_sdk.protocol.chain import MessageChain
from parlour_sdk.protocol.platform_api import MessageResult

from .client import QQClient

RUNNING, DONE = 1, 10


class QQStream(PlatformStream):
    """The stream of one answer. If QQ refuses it, the answer is sent when it is complete."""

    def __init__(
        self,
        client: QQClient,
        path: str,
        reply: Payload,
        complete: Callable[[MessageChain, str], Awaitable[MessageResult]],
    ) -> None:
        self._client = client
        self._path = path
        self._reply = reply
        self._complete = complete
        self._text = ""
        self._index = 0
        self._stream_id = ""
        self._is_refused = False

    @property
    def stream_id(self) -> str:
        return self._stream_id

    async def append(self, text: str) -> None:
        if not self._is_refused:
            try:
                await self.write(self._text + text)
            except PlatformRefused as refused:
                if refused.retry_after is not None:
                    raise
                self._is_refused = True
        self._text += text

    async def write(self, content: str, state: int = RUNNING) -> None:
        body: Payload = {
            "input_mode": "replace",
            "input_state": state,
            "content_type": "markdown",
            "content_raw": content,
            "index": self._index,
            **self._reply,
        }
        if self._stream_id:
            body["stream_msg_id"] = self._stream_id
        answer = await self._client.call("POST", f"{self._path}/stream_messages", body)
        self._stream_id = self._stream_id or text(answer, "id")
        self._index += 1

    async def finish(self, chain: MessageChain) -> MessageResult:
        """Completes the stream with its first text; what it can't show is sent in further messages."""
        return await self._complete(chain, "" if self._is_refused else self._stream_id)

    async def fail(self, reason: str) -> None:
        if self._stream_id and not self._is_refused:
            await self.write(self._text, DONE)
