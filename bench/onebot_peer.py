"""The OneBot implementation on the other side of a bot: it connects, sends message events and receives the replies."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from pydantic_core import from_json, to_json

from .host import Unmeasurable
from .messages import Books, Message

SELF = 10001
REFUSED_SECONDS = 30
ANSWER_SECONDS = 30


class Peer:
    """Connection to a bot. Replies are assigned by user, since each user has one open question at a time."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, books: Books) -> None:
        self._socket = socket
        self._books = books
        self._pending: dict[int, tuple[Message, asyncio.Future[float]]] = {}
        self._sent = 0

    async def ask(self, user: int) -> float:
        """Returns the seconds from the event to the send action with its reply."""
        message = self._books.next()
        reply: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._pending[user] = message, reply
        started = time.perf_counter()
        await self.tell(_private(user, len(self._books.sent), message.text))
        async with asyncio.timeout(ANSWER_SECONDS):
            return await reply - started

    async def tell(self, event: dict[str, Any]) -> None:
        await self._socket.send_bytes(to_json({"time": int(time.time()), "self_id": SELF, **event}))

    async def read(self) -> None:
        async for frame in self._socket:
            request = from_json(frame.data)
            if "action" in request:
                await self._socket.send_bytes(to_json(self._done(request)))

    def _done(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["action"].startswith("send_"):
            self._take(request["params"], time.perf_counter())
        self._sent += 1
        data = {"message_id": 1_000_000_000 + self._sent, "user_id": SELF, "nickname": "bench"}
        return {"status": "ok", "retcode": 0, "data": data, "echo": request.get("echo")}

    def _take(self, params: dict[str, Any], now: float) -> None:
        text = "".join(part["data"]["text"] for part in params["message"] if part["type"] == "text")
        message, reply = self._pending.pop(int(params["user_id"]), (None, None))
        if message is None or reply is None:
            self._books.note(f"a reply that nobody waits for: {text[:200]!r}")
            return
        if message.token in text.split():
            self._books.answered += 1
        else:
            self._books.note(f"{message.token} got the answer {text[:200]!r}")
        reply.set_result(now)


class User:
    """A user with one conversation."""

    def __init__(self, peer: Peer, number: int) -> None:
        self._peer = peer
        self._number = number

    async def say(self) -> float:
        return await self._peer.ask(self._number)

    async def close(self) -> None:
        """Does nothing: the connection is shared by all users."""


@asynccontextmanager
async def connected(port: int, books: Books) -> AsyncIterator[Peer]:
    async with aiohttp.ClientSession() as session:
        socket = await _socket(session, port)
        peer = Peer(socket, books)
        reading = asyncio.create_task(peer.read())
        try:
            await peer.tell({"post_type": "meta_event", "meta_event_type": "lifecycle", "sub_type": "connect"})
            yield peer
        finally:
            reading.cancel()
            await socket.close()


async def _socket(session: aiohttp.ClientSession, port: int) -> aiohttp.ClientWebSocketResponse:
    """Connects to the bot, with retries, since it starts to listen shortly after it was created."""
    headers = {"X-Self-ID": str(SELF), "X-Client-Role": "Universal"}
    deadline = time.perf_counter() + REFUSED_SECONDS
    while True:
        try:
            return await session.ws_connect(f"http://127.0.0.1:{port}/onebot/v11/ws", headers=headers)
        except aiohttp.ClientError as error:
            if time.perf_counter() > deadline:
                raise Unmeasurable(f"the bot does not let its peer in: {error}") from error
            await asyncio.sleep(0.05)


def _private(user: int, number: int, text: str) -> dict[str, Any]:
    return {
        "post_type": "message",
        "message_type": "private",
        "sub_type": "friend",
        "message_id": number,
        "user_id": user,
        "message": [{"type": "text", "data": {"text": text}}],
        "raw_message": text,
        "font": 0,
        "sender": {"user_id": user, "nickname": f"u{user}", "sex": "unknown", "age": 0},
    }
