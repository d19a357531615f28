"""An answer that grows in a private chat: each change replaces the whole text, under a number that grows.

QQ names a stream by an id that only its first change is answered with. The id is stored, so that a later process ends
the answer in its place.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from time import time

from parlour.core.journal import StorageFailed
from parlour.core.platforms.api import PlatformStream
from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.payloads import Payload, text
from parlour_sdk.protocol.chain import MessageChain
from parlour_sdk.protocol.platform_api import MessageResult
from parlour_sdk.values import dataclass

from .client import QQClient
from .entities import MESSAGE_HANDLE, PRIVATE_SECONDS

logger = logging.getLogger(__name__)

RUNNING, DONE = 1, 10
CHANGES_PER_SECOND = 2
"""The rate of the manifest, within which a stream changes."""
INDEX_MARGIN = 100
"""Added to the number with which a later process continues: changes that were closer together than the rate."""
MAX_STORED = 100


@dataclass(frozen=True, slots=True)
class OpenStream:
    """A stream that QQ shows and that is not ended."""

    stream_id: str
    message_id: str
    """The message of the user that it answers."""
    number: int
    """The `msg_seq` of the answer."""
    opened_at: float

    @property
    def reply(self) -> Payload:
        """The fields that say what the stream answers."""
        return {MESSAGE_HANDLE: self.message_id, "event_id": self.message_id, "msg_seq": self.number}

    @property
    def is_recent(self) -> bool:
        return 0 <= time() - self.opened_at < PRIVATE_SECONDS

    def unused_index(self) -> int:
        """Returns a number larger than those of all changes so far, which are not stored: their rate is limited."""
        return int((time() - self.opened_at) * CHANGES_PER_SECOND) + INDEX_MARGIN


class OpenStreams:
    """The streams of one bot that are not ended, by the idempotency keys of their answers."""

    def __init__(self, store: Callable[[], Awaitable[None]]) -> None:
        self._store = store
        self._open: BoundedMap[str, OpenStream] = BoundedMap(MAX_STORED)

    async def opened(self, key: str, stream: OpenStream) -> None:
        """Remembers a stream beyond the end of this process."""
        self._open.set(key, stream)
        try:
            await self._store()
        except StorageFailed as error:
            logger.warning("a restart would send an answer again that is being written: %s", error)

    def closed(self, key: str) -> None:
        self._open.pop(key)

    def get(self, key: str | None) -> OpenStream | None:
        stream = self._open.get(key) if key else None
        return stream if stream is not None and stream.is_recent else None

    def dump(self) -> Payload:
        """Returns the streams for the cursor."""
        return {
            key: [each.stream_id, each.message_id, each.number, each.opened_at]
            for key, each in self._open.items()
            if each.is_recent
        }

    def load(self, stored: Payload) -> None:
        """Restores the streams of an earlier process."""
        for key, entry in stored.items():
            match entry:
                case [str() as stream_id, str() as message_id, int() as number, int() | float() as opened_at]:
                    self._open.set(key, OpenStream(stream_id, message_id, number, opened_at))


class QQStream(PlatformStream):
    """The stream of one answer. If QQ refuses it, the answer is sent when it is complete."""

    def __init__(
        self,
        client: QQClient,
        path: str,
        answered: OpenStream,
        complete: Callable[["QQStream", MessageChain], Awaitable[MessageResult]],
        streams: OpenStreams,
        key: str,
    ) -> None:
        """`answered` says what the stream answers; with the id of a stream, it is continued."""
        self._client = client
        self._path = path
        self._answered = answered
        self._complete = complete
        self._streams = streams
        self._key = key
        self._text = ""
        self._index = answered.unused_index() if answered.stream_id else 0
        self._stream_id = answered.stream_id
        self._is_refused = False

    @property
    def stream_id(self) -> str:
        """The id of the stream; empty if the answer is not shown in one."""
        return "" if self._is_refused else self._stream_id

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
            **self._answered.reply,
        }
        if self._stream_id:
            body["stream_msg_id"] = self._stream_id
        answer = await self._client.call("POST", f"{self._path}/stream_messages", body)
        self._index += 1
        if state == DONE:
            self._streams.closed(self._key)
        elif not self._stream_id:
            self._stream_id = text(answer, "id")
            await self._streams.opened(self._key, replace(self._answered, stream_id=self._stream_id))

    async def finish(self, chain: MessageChain) -> MessageResult:
        """Completes the stream with its first text; what it can't show is sent in further messages."""
        return await self._complete(self, chain)

    async def fail(self, reason: str) -> None:
        if self._stream_id and not self._is_refused:
            await self.write(self._text, DONE)
