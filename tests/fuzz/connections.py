"""Sends frames over one connection and returns all bytes that came back.

A Host that leaves a request unanswered is a failure, unless it closed the connection. Slow requests are cancelled
first, and a cancelled request is answered too.
"""

import asyncio
import base64
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from random import Random
from typing import Any, Protocol

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from parlour_sdk.wire import StdioTransport

from .corpus import HELLO, spoiled
from .host import SECONDS, UNCAPPED, Fuzzed

TOKEN = "a-token-that-is-long-enough-to-be-one-0123456789"
ANSWER_SECONDS = 0.1
LARGEST = 64 * 1024 * 1024


class Line(Protocol):
    async def send(self, frame: bytes) -> None: ...

    async def receive(self) -> bytes:
        """Returns the next frame, or nothing when the Host has closed the connection."""
        ...


async def converse(line: Line, frames: Iterable[bytes], greets: bool = True) -> bytes:
    talk = Conversation(line)
    async with asyncio.timeout(SECONDS):
        if greets:
            await talk.say([HELLO])
        await talk.say(list(frames))
    return bytes(talk.received)


class Conversation:
    def __init__(self, line: Line) -> None:
        self.received = bytearray()
        self._line = line
        self._unanswered: set[int] = set()

    async def say(self, frames: list[bytes]) -> None:
        """Sends the frames and receives until all requests are answered or the Host closes the connection."""
        for frame in frames:
            self._unanswered |= _request_ids(frame)
        sending = asyncio.create_task(self._send(frames))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._receive(), ANSWER_SECONDS)
        await sending
        await self._send([b'{"cancel":%d}' % seq_id for seq_id in self._unanswered])
        await self._receive()

    async def _receive(self) -> None:
        while self._unanswered:
            frame = await self._line.receive()
            self.received += frame
            if not frame:
                self._unanswered.clear()
            else:
                self._unanswered -= _answered_ids(frame)

    async def _send(self, frames: Iterable[bytes]) -> None:
        with contextlib.suppress(ConnectionError, ConnectionClosed):
            for frame in frames:
                await self._line.send(frame)


def _request_ids(frame: bytes) -> set[int]:
    content = _content(frame)
    is_request = isinstance(content, dict) and isinstance(content.get("action"), str)
    return {content["seq_id"]} if is_request and type(content.get("seq_id")) is int else set()


def _answered_ids(frame: bytes) -> set[int]:
    content = _content(frame)
    is_last = isinstance(content, dict) and "code" in content and content.get("chunk_status") != "continue"
    return {content["seq_id"]} if is_last else set()


def _content(frame: bytes) -> Any:
    try:
        return json.loads(frame)
    except (ValueError, RecursionError):
        return None


@asynccontextmanager
async def pipe(target: Fuzzed) -> AsyncIterator[Line]:
    (to_host, hosts_input), (from_host, hosts_output) = socket.socketpair(), socket.socketpair()
    peer = target.serve(StdioTransport(hosts_input.detach(), hosts_output.detach(), UNCAPPED))
    _, writer = await asyncio.open_connection(sock=to_host)
    reader, other_writer = await asyncio.open_connection(sock=from_host, limit=LARGEST)
    try:
        yield _Pipe(reader, writer)
    finally:
        writer.close()
        other_writer.close()
        await peer.aclose()


class _Pipe:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, frame: bytes) -> None:
        self._writer.write(frame.replace(b"\n", b" ") + b"\n")
        await self._writer.drain()

    async def receive(self) -> bytes:
        try:
            return await self._reader.readline()
        except ConnectionError:
            return b""


@asynccontextmanager
async def websocket(port: int, random: Random) -> AsyncIterator[Line]:
    authorization = {"Authorization": f"Bearer {TOKEN}"}
    address = f"ws://127.0.0.1:{port}"
    # max_queue: a client with a full queue doesn't notice that the Host closed the connection
    async with connect(address, additional_headers=authorization, max_size=LARGEST, max_queue=None) as client:
        yield _Socket(client, random)


class _Socket:
    def __init__(self, client: ClientConnection, random: Random) -> None:
        self._client = client
        self._random = random

    async def send(self, frame: bytes) -> None:
        await self._client.send(frame, text=self._random.random() < 0.99)

    async def receive(self) -> bytes:
        try:
            return await self._client.recv(decode=False)
        except ConnectionClosed:
            return b""


async def greet(port: int, random: Random) -> bytes:
    """Sends a spoiled WebSocket greeting and some bytes after it, and returns the answer."""
    key = base64.b64encode(random.randbytes(16)).decode()
    request = (
        f"GET /plugin HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(SECONDS):
            writer.write(spoiled(random, request.encode()) + random.randbytes(random.randint(0, 200)))
            writer.write_eof()
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()
