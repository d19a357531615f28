"""Clients with little overhead: one persistent connection each, and no parsing beyond what checking an answer needs."""

import asyncio
import base64
import json
import os
import time
from typing import Protocol, cast

import aiohttp

from .host import Host, Unmeasurable
from .messages import Books, Message

ANSWER_SECONDS = 30
TEXT, CLOSE, PING, PONG = 1, 8, 9, 10
"""Opcodes of RFC 6455."""


class Client(Protocol):
    """A client with one conversation."""

    async def say(self) -> float:
        """Sends a message, checks its answer and returns the seconds between them."""
        ...

    async def close(self) -> None: ...


class HttpLane(asyncio.Protocol):
    """Sends POST /events?wait=result on its own connection."""

    def __init__(self, host: Host, agent_id: str, chat: str, books: Books) -> None:
        self._head = (
            f"POST /api/v1/events?wait=result HTTP/1.1\r\nHost: 127.0.0.1:{host.port}\r\n"
            f"Authorization: Bearer {host.key}\r\nContent-Type: application/json\r\nContent-Length: "
        ).encode()
        self._agent_id = agent_id
        self._chat = chat
        self._books = books
        self._buffer = b""
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None
        self._transport: asyncio.Transport

    async def open(self, port: int) -> "HttpLane":
        self._port = port
        await asyncio.get_running_loop().create_connection(lambda: self, "127.0.0.1", port)
        return self

    async def say(self, chat: str | None = None) -> float:
        message = self._books.next()
        body = event_body(self._agent_id, chat or self._chat, message)
        if self._transport.is_closing():  # the Host closes connections that were idle for some seconds
            await self.open(self._port)
        try:
            seconds, status, content = await self._post(body)
        except ConnectionResetError:  # closed just now; the event_id makes a retry safe
            await self.open(self._port)
            seconds, status, content = await self._post(body)
        check_result(self._books, message, status, content)
        return seconds

    async def _post(self, body: bytes) -> tuple[float, int, bytes]:
        self._answer = asyncio.get_running_loop().create_future()
        started = time.perf_counter()
        self._transport.write(b"%b%d\r\n\r\n%b" % (self._head, len(body), body))
        status, content = await self._answer
        return time.perf_counter() - started, status, content

    async def close(self) -> None:
        self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._buffer = buffer = self._buffer + data if self._buffer else data
        end = buffer.find(b"\r\n\r\n")
        if end < 0 or self._answer is None or self._answer.done():
            return
        header_start = buffer.find(b"content-length: ")
        length = int(buffer[header_start + 16 : buffer.index(b"\r\n", header_start)])
        if len(buffer) >= end + 4 + length:
            self._buffer = b""
            self._answer.set_result((int(buffer[9:12]), buffer[end + 4 :]))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionResetError("the Host closed an HTTP connection"))


class AiohttpLane:
    """Sends the messages of `HttpLane` with aiohttp, a client that applications use."""

    def __init__(self, session: aiohttp.ClientSession, host: Host, agent_id: str, chat: str, books: Books) -> None:
        self._session = session
        self._url = f"http://127.0.0.1:{host.port}/api/v1/events?wait=result"
        self._headers = {"Authorization": f"Bearer {host.key}", "Content-Type": "application/json"}
        self._agent_id = agent_id
        self._chat = chat
        self._books = books

    async def say(self) -> float:
        message = self._books.next()
        body = event_body(self._agent_id, self._chat, message)
        started = time.perf_counter()
        async with self._session.post(self._url, data=body, headers=self._headers) as response:
            content = await response.read()
        seconds = time.perf_counter() - started
        check_result(self._books, message, response.status, content)
        return seconds

    async def close(self) -> None:
        """Does nothing: the session is closed by its creator."""


class ChatLane(asyncio.Protocol):
    """Times a chat socket from a message to its message frame. The next message waits until the run has ended."""

    def __init__(self, host: Host, agent_id: str, session: str, books: Books) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        self._greeting = (
            f"GET /api/v1/agents/{agent_id}/chat/ws?session={session} HTTP/1.1\r\nHost: 127.0.0.1:{host.port}\r\n"
            f"Authorization: Bearer {host.key}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
        ).encode()
        self._books = books
        self._buffer = bytearray()
        self._upgraded = False
        self._connected: asyncio.Future[None]
        self._ended: asyncio.Future[None] | None = None
        self._message: Message | None = None
        self._answered_at = 0.0
        self._transport: asyncio.Transport

    async def open(self, port: int) -> "ChatLane":
        loop = asyncio.get_running_loop()
        self._connected = loop.create_future()
        await loop.create_connection(lambda: self, "127.0.0.1", port)
        self._transport.write(self._greeting)
        await asyncio.wait_for(self._connected, ANSWER_SECONDS)
        return self

    async def say(self) -> float:
        self._message = message = self._books.next()
        self._answered_at = 0.0
        self._ended = asyncio.get_running_loop().create_future()
        frame = b'{"type":"message","id":"%b","text":"%b"}' % (message.token.encode(), message.text.encode())
        started = time.perf_counter()
        self._transport.write(_client_frame(frame))
        await self._ended
        if not self._answered_at:
            self._books.note(f"{message.token}: its run ended and no message came")
            self._answered_at = time.perf_counter()
        return self._answered_at - started

    async def close(self) -> None:
        self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._upgraded:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            if not self._buffer.startswith(b"HTTP/1.1 101"):
                self._fail(f"the chat socket was refused: {bytes(self._buffer[:80])!r}")
                return
            self._upgraded = True
            del self._buffer[: end + 4]
        while (frame := _server_frame(self._buffer)) is not None:
            opcode, payload = frame
            if opcode == TEXT:
                self._take(payload)
            elif opcode == PING:
                self._transport.write(_client_frame(payload, PONG))
            elif opcode == CLOSE:
                self._fail(f"the Host closed a chat socket: {payload[2:]!r}")

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail("the Host closed a chat socket")

    def _take(self, frame: bytes) -> None:
        if frame.startswith(b'{"type":"message"'):
            self._check(frame)
        elif frame.startswith(b'{"type":"run"'):
            if b'"status":"running"' not in frame and self._ended is not None and not self._ended.done():
                self._ended.set_result(None)
        elif frame.startswith(b'{"type":"connected"'):
            self._connected.set_result(None)
        elif not frame.startswith((b'{"type":"accepted"', b'{"type":"delta"')):
            self._fail(f"a frame that was not expected: {frame[:200]!r}")

    def _check(self, frame: bytes) -> None:
        message = self._message
        if message is None or self._answered_at:
            self._books.note(f"a message frame that nobody waits for: {frame[:200]!r}")
            return
        self._answered_at = time.perf_counter()
        if b'"content":"%b"' % message.text.encode() not in frame and _content(frame) != message.text:
            self._books.note(f"{message.token} got the answer {frame[:200]!r}")
            return
        self._books.answered += 1

    def _fail(self, reason: str) -> None:
        for future in (self._connected, self._ended):
            if future is not None and not future.done():
                future.set_exception(Unmeasurable(reason))


def event_body(agent_id: str, chat: str, message: Message) -> bytes:
    return (
        f'{{"agent_id":"{agent_id}","conversation_id":"{chat}","event_id":"{message.token}",'
        f'"input":{{"text":"{message.text}"}}}}'
    ).encode()


def check_result(books: Books, message: Message, status: int, content: bytes) -> None:
    """Checks a result by its bytes; one that does not match is parsed before it counts as wrong."""
    quick = b'"messages":[{"role":"assistant","content":"%b"}]' % message.text.encode()
    if status == 200 and quick in content and content.startswith(b'{"event_id":"%b"' % message.token.encode()):
        books.answered += 1
        return
    result = json.loads(content)
    texts = [each.get("content") for each in result.get("messages", ())]
    if status == 200 and result.get("event_id") == message.token and texts == [message.text]:
        books.answered += 1
    else:
        books.note(f"{message.token} got {status} {content[:300]!r}")


def _content(frame: bytes) -> object:
    return json.loads(frame)["message"].get("content")


def _client_frame(payload: bytes, opcode: int = TEXT) -> bytes:
    """Builds a frame masked with zeros: RFC 6455 requires a mask, and this one leaves the bytes unchanged."""
    size = len(payload)
    head = bytes((0x80 | opcode, 0x80 | size)) if size < 126 else bytes((0x80 | opcode, 0xFE)) + size.to_bytes(2)
    return head + bytes(4) + payload


def _server_frame(buffer: bytearray) -> tuple[int, bytes] | None:
    """Removes the next complete frame from the buffer and returns its opcode and payload."""
    if len(buffer) < 2:
        return None
    opcode, size, start = buffer[0] & 0x0F, buffer[1] & 0x7F, 2
    if size >= 126:
        start = 4 if size == 126 else 10
        size = int.from_bytes(buffer[2:start])
    if len(buffer) < start + size:
        return None
    payload = bytes(buffer[start : start + size])
    del buffer[: start + size]
    return opcode, payload
