"""The messages of one request that may have to be answered twice: here in vain, and then by another Host."""

from collections import deque
from collections.abc import MutableMapping
from typing import Any

from parlour.core.ingest.arrivals import Arrival

from .body_limit import Receive, Send

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]


class RelayedExchange:
    """Keeps what was received, and drops the answer to a request that turned out to be another Host's."""

    def __init__(self, receive: Receive, send: Send, max_bytes: int) -> None:
        """A request with a larger body than `max_bytes` is kept no longer, and is answered on this Host."""
        self._receive = receive
        self._send = send
        self._max_bytes = max_bytes
        self._kept: list[Message] = []
        self._size = 0
        self.arrival = Arrival()

    async def receive(self) -> Message:
        """Returns the next message of the client, and keeps it."""
        message = await self._receive()
        if not self.arrival.is_final:
            self._size += len(message.get("body", b""))
            self._kept.append(message)
            if self._size > self._max_bytes:
                self._make_final()
        return message

    async def send(self, message: Message) -> None:
        """Sends a message of an answer, unless another Host has to answer."""
        if self.arrival.part is None or self.arrival.is_final:
            self._make_final()
            await self._send(message)

    async def pass_through(self, message: Message) -> None:
        """Sends a message of the answer that counts."""
        await self._send(message)

    async def receive_next(self) -> Message:
        """Returns the next message of the client, which was not received before."""
        return await self._receive()

    async def receive_first(self) -> Message:
        """Returns the first message of the client, which may have been received before."""
        return self._kept[0] if self._kept else await self.receive()

    async def read_body(self) -> bytes | None:
        """Returns the body; None if it is too large, or the client has left."""
        while not self._kept or self._kept[-1].get("more_body"):
            message = await self.receive()
            if self.arrival.is_final or message["type"] == "http.disconnect":
                return None
        return b"".join(message.get("body", b"") for message in self._kept)

    def replay(self) -> Receive:
        """Returns a function that returns all messages of the client from the first one on."""
        kept = deque(self._kept)

        async def receive() -> Message:
            return kept.popleft() if kept else await self._receive()

        return receive

    def _make_final(self) -> None:
        self.arrival.is_final = True
        self._kept.clear()
