"""Provides a chat client for tests: one socket, and all frames that it received."""

import asyncio
import json
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from .harness import Host, Json, bearer

NUMBERED = ("run", "delta", "message", "tool")
"""Types of frames that always have a number of their own."""


class Chat:
    """Represents one tab of a session: `async with Chat(host, agent) as chat`."""

    def __init__(
        self,
        host: Host,
        agent_id: str,
        session: str = "default",
        key: str | None = None,
        after: int | None = None,
        said: bool = False,
        headers: dict[str, str] | None = None,
        locale: str = "",
        **options: Any,
    ) -> None:
        address = host.address.replace("http", "ws", 1)
        wishes = ("" if after is None else f"&after={after}") + ("&said=true" if said else "")
        wishes += f"&locale={locale}" if locale else ""
        self._url = f"{address}/api/v1/agents/{agent_id}/chat/ws?session={session}{wishes}"
        self._headers = headers or bearer(host.key() if key is None else key)
        self._options: dict[str, Any] = {"max_queue": None, "close_timeout": 1, **options}
        self.frames: list[Json] = []
        self.conversation_id = ""
        self.socket: ClientConnection

    async def __aenter__(self) -> "Chat":
        self.socket = await connect(self._url, additional_headers=self._headers, **self._options)
        first = await self.frame()
        self.conversation_id = str(first.get("conversation_id", ""))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.socket.close()

    def cut(self) -> None:
        """Breaks the connection."""
        self.socket.transport.abort()

    async def send(self, **frame: Any) -> None:
        await self.socket.send(json.dumps(frame))

    async def say(self, text: str, **fields: Any) -> None:
        await self.send(type="message", text=text, **fields)

    async def frame(self, seconds: float = 30) -> Json:
        async with asyncio.timeout(seconds):
            frame = json.loads(await self.socket.recv())
        self.frames.append(frame)
        return dict(frame)

    async def until(self, kind: str, seconds: float = 30, **fields: Any) -> Json:
        """Returns the next frame of this type with these fields. Earlier frames are kept in `frames`."""
        async with asyncio.timeout(seconds):
            while True:
                frame = await self.frame(seconds)
                if frame["type"] == kind and all(frame.get(name) == value for name, value in fields.items()):
                    return frame

    async def answer(self, text: str, **fields: Any) -> str:
        """Sends a text and returns the answer when its run has ended."""
        await self.say(text, **fields)
        message = await self.until("message")
        await self.until("run", status="completed")
        return str(message["message"]["content"])

    def of(self, kind: str) -> list[Json]:
        return [frame for frame in self.frames if frame["type"] == kind]

    @property
    def deltas(self) -> str:
        return "".join(frame["content"] for frame in self.of("delta"))

    @property
    def last_seq(self) -> int:
        return int(self.frames[-1]["seq"])

    @property
    def numbered(self) -> list[Json]:
        return [frame for frame in self.frames if frame["type"] in NUMBERED]
