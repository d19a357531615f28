"""Provides the users' side of the line platform: sends messages until they are accepted, and
records what it was shown.
"""

import asyncio
import json
from typing import Any

from parlour.testing.simulation.promises import ShownMessage


class People:
    def __init__(self) -> None:
        self.shown: list[ShownMessage] = []
        self.unaccepted: dict[str, dict[str, str]] = {}
        self.accepted: set[str] = set()
        self._writer: asyncio.StreamWriter | None = None
        self._changed = asyncio.Condition()
        self._server: asyncio.Server

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        self._server.close()

    def say(self, event_id: str, chat: str, text: str) -> None:
        self.unaccepted[event_id] = {"event": event_id, "chat": chat, "person": "ann", "text": text}
        self._write(self.unaccepted[event_id])

    async def wait(self, condition: Any, seconds: float) -> None:
        async with asyncio.timeout(seconds), self._changed:
            await self._changed.wait_for(condition)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Sends unacknowledged messages again when a Host connects."""
        self._writer = writer
        for frame in list(self.unaccepted.values()):
            self._write(frame)
        try:
            while line := await reader.readline():
                await self._handle(json.loads(line))
        except ConnectionError:
            pass

    async def _handle(self, frame: dict[str, Any]) -> None:
        async with self._changed:
            if "accepted" in frame:
                self.unaccepted.pop(frame["accepted"], None)
                self.accepted.add(frame["accepted"])
            else:
                shown = ShownMessage(frame["send"], frame["conversation_id"], frame["text"], frame["possibly_repeated"])
                self.shown.append(shown)
                self._write({"sent": frame["send"], "message_id": f"line-{len(self.shown)}"})
            self._changed.notify_all()

    def _write(self, frame: dict[str, Any]) -> None:
        if self._writer is not None:
            self._writer.write(json.dumps(frame).encode() + b"\n")
