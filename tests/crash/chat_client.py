"""Provides a chat client that reconnects: it resumes where it was cut, and sends unaccepted messages again."""

import asyncio
import json

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage


class ReconnectingChat:
    def __init__(self, url: str, key: str, session: str) -> None:
        self._url = f"{url}?session={session}"
        self._headers = {"Authorization": f"Bearer {key}"}
        self._seq: int | None = None
        self.unaccepted: dict[str, str] = {}
        self.event_ids: dict[str, str] = {}
        self.messages: list[str] = []
        self.notices: list[str] = []
        self.deltas = 0

    async def talk(self, first: str, second: str, done: asyncio.Event) -> None:
        """Sends the first message, sends the second as soon as an answer begins, and listens until `done` is set."""
        self.unaccepted["first"] = first
        while not done.is_set():
            try:
                await self._run_connection(second, done)
            except (OSError, ConnectionClosed, InvalidHandshake, InvalidMessage):
                await asyncio.sleep(0.05)

    def received(self, token: str) -> bool:
        return any(token in text for text in self.messages)

    async def _run_connection(self, second: str, done: asyncio.Event) -> None:
        url = self._url if self._seq is None else f"{self._url}&after={self._seq}"
        async with connect(url, additional_headers=self._headers, open_timeout=5) as socket:
            for name, text in self.unaccepted.items():
                await socket.send(json.dumps({"type": "message", "id": name, "text": text}))
            while not done.is_set():
                try:
                    frame = json.loads(await asyncio.wait_for(socket.recv(), 0.2))
                except TimeoutError:
                    continue
                self._seq = max(self._seq or 0, frame["seq"])
                match frame["type"]:
                    case "accepted":
                        self.event_ids[frame["id"]] = frame["event_id"]
                        self.unaccepted.pop(frame["id"], None)
                    case "delta":
                        self.deltas += 1
                        if "second" not in self.event_ids and "second" not in self.unaccepted:
                            self.unaccepted["second"] = second
                            await socket.send(json.dumps({"type": "message", "id": "second", "text": second}))
                    case "message":
                        self.messages.append(frame["message"]["content"])
                    case "error":
                        self.notices.append(frame["code"])
