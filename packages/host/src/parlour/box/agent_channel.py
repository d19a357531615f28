"""The connection to the agent in a sandbox: requests with answers, over the pipes of its process or a socket."""

import asyncio
import json
import socket
import struct
from collections.abc import Callable
from typing import Any

from parlour_sdk.wire.pipe import Pipe

from .errors import BoxError, SandboxGone

MAX_MESSAGE_BYTES = 4 * 1024 * 1024
Fields = dict[str, Any]
OnEvent = Callable[[Fields], None]


class AgentChannel(asyncio.Protocol):
    """Sends requests to an agent. A message without an id is an event of a managed process."""

    def __init__(self, on_event: OnEvent) -> None:
        self._on_event = on_event
        self._buffer = bytearray()
        self._answers: dict[int, asyncio.Future[Fields]] = {}
        self._count = 0
        self._reader: asyncio.ReadTransport | None = None
        self._writer: asyncio.WriteTransport | None = None
        self.closed = asyncio.Event()
        self.ready: asyncio.Future[Fields] = asyncio.get_running_loop().create_future()
        self._answers[0] = self.ready

    @classmethod
    async def open(cls, read_fd: int, write_fd: int, on_event: OnEvent) -> "AgentChannel":
        """Opens a channel, which owns both descriptors."""
        loop, channel = asyncio.get_running_loop(), cls(on_event)
        channel._writer, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, Pipe(write_fd, loop))
        channel._reader, _ = await loop.connect_read_pipe(lambda: channel, Pipe(read_fd, loop))
        return channel

    @classmethod
    async def over(cls, connection: socket.socket, on_event: OnEvent) -> "AgentChannel":
        """Opens a channel over a socket, which it owns."""
        loop, channel = asyncio.get_running_loop(), cls(on_event)
        transport, _ = await loop.connect_accepted_socket(lambda: channel, connection)
        channel._reader = channel._writer = transport
        return channel

    @classmethod
    def through(cls, writer: asyncio.WriteTransport, on_event: OnEvent) -> "AgentChannel":
        """Opens a channel whose answers are given to `data_received`."""
        channel = cls(on_event)
        channel._writer = writer
        return channel

    async def request(self, operation: str, fields: Fields) -> Fields:
        """Sends a request and returns its answer. Raises BoxError."""
        if self._writer is None or self.closed.is_set():
            raise SandboxGone
        self._count += 1
        request_id = self._count
        future: asyncio.Future[Fields] = asyncio.get_running_loop().create_future()
        self._answers[request_id] = future
        content = json.dumps({**fields, "id": request_id, "op": operation}).encode()
        self._writer.write(struct.pack("!I", len(content)) + content)
        try:
            return await future
        finally:
            self._answers.pop(request_id, None)

    def close(self) -> None:
        for pipe in (self._reader, self._writer):
            if pipe is not None:
                pipe.close()
        self._end()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while len(self._buffer) >= 4:
            length = int(struct.unpack("!I", self._buffer[:4])[0])
            if length > MAX_MESSAGE_BYTES:
                self.close()
                return
            if len(self._buffer) < 4 + length:
                return
            content = bytes(self._buffer[4 : 4 + length])
            del self._buffer[: 4 + length]
            try:
                self._receive(json.loads(content))
            except (ValueError, KeyError, TypeError, AttributeError):  # no message of an agent
                self.close()
                return

    def connection_lost(self, error: Exception | None) -> None:
        self._end()

    def _receive(self, message: Fields) -> None:
        if "id" not in message:
            self._on_event(message)
            return
        future = self._answers.get(message["id"])
        if future is None or future.done():
            return
        if "error" in message:
            future.set_exception(BoxError(str(message["error"]["code"]), str(message["error"]["message"])))
        else:
            future.set_result(dict(message["result"]))

    def _end(self) -> None:
        self.closed.set()
        for future in self._answers.values():
            if not future.done():
                future.set_exception(BoxError("session_lost", "the sandbox has ended", retryable=True))
                future.exception()  # it may have no reader
