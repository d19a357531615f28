"""Stream mode of the simulated DingTalk: tickets, frames, acknowledgements and repetitions."""

import asyncio
import itertools
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from parlour.testing.simulator import SimulatorSocket, SingleUseTokens
from parlour.testing.simulator.validation import InvalidRequest

Json = dict[str, Any]
RETRY_SECONDS = 60.0


class DingTalkRefusal(Exception):
    """An answer with an HTTP status and the name of a reason."""

    def __init__(self, status: int, code: str, message: str = "refused") -> None:
        super().__init__(f"{status} {code} {message}")
        self.status = status
        self.code = code
        self.message = message


@dataclass
class WaitingFrame:
    """A report that waits for its acknowledgement."""

    frame: Json
    sent_at: float = field(default_factory=time.monotonic)
    tries: int = 0


class StreamServer:
    """The connections of one app."""

    def __init__(self, notify: Callable[[], Awaitable[None]]) -> None:
        self._notify = notify
        self.address = ""
        self.tickets = SingleUseTokens()
        self.sockets: list[SimulatorSocket] = []
        self.connections = 0
        self.waiting: dict[str, WaitingFrame] = {}
        self.acknowledged: dict[str, Json] = {}
        """Data of the acknowledgements by message id."""
        self.pongs: list[Json] = []
        self.retry_seconds = RETRY_SECONDS
        self.numbers = itertools.count(1)

    def open(self) -> Json:
        endpoint = f"{self.address.replace('http', 'ws', 1)}/connect"
        return {"endpoint": endpoint, "ticket": self.tickets.issue()}

    async def serve(self, socket: SimulatorSocket) -> None:
        try:
            self.tickets.use(socket.request.query.get("ticket"))
        except InvalidRequest:
            await socket.close(1008, "invalid ticket")
            return
        self.sockets.append(socket)
        self.connections += 1
        repeat = asyncio.create_task(self._repeat(socket))
        try:
            for each in list(self.waiting.values()):
                await self._send(socket, each)
            await self._notify()
            async for data in socket.frames():
                self._read(json.loads(data))
                await self._notify()
        except ConnectionResetError:
            pass
        finally:
            repeat.cancel()
            self.sockets.remove(socket)
            await self._notify()

    def _read(self, frame: Json) -> None:
        assert frame["code"] == 200, frame
        message_id, data = frame["headers"]["messageId"], json.loads(frame["data"])
        if self.waiting.pop(message_id, None) is None:
            self.pongs.append(data)
        self.acknowledged[message_id] = data

    async def _repeat(self, socket: SimulatorSocket) -> None:
        """Reports again what was not acknowledged in time."""
        while True:
            await asyncio.sleep(min(self.retry_seconds / 3, 0.5))
            for each in list(self.waiting.values()):
                if time.monotonic() - each.sent_at >= self.retry_seconds:
                    await self._send(socket, each)
                    await self._notify()

    def frame(self, kind: str, topic: str, data: Any, **headers: str) -> Json:
        own = {
            "appId": "app", "connectionId": "c", "contentType": "application/json",
            "messageId": f"frame{next(self.numbers)}", "time": str(int(time.time() * 1000)), "topic": topic, **headers,
        }  # fmt: skip
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        return {"specVersion": "1.0", "type": kind, "headers": own, "data": text}

    async def report(self, frame: Json) -> None:
        """Reports something until it is acknowledged."""
        waiting = self.waiting[frame["headers"]["messageId"]] = WaitingFrame(frame)
        if self.sockets:
            await self._send(self.sockets[-1], waiting)

    async def system(self, topic: str, data: Json) -> None:
        """Sends a ping, or the request to reconnect, to all connections."""
        for socket in list(self.sockets):
            with suppress(ConnectionResetError):
                await socket.send(json.dumps(self.frame("SYSTEM", topic, data)))

    async def _send(self, socket: SimulatorSocket, waiting: WaitingFrame) -> None:
        waiting.sent_at, waiting.tries = time.monotonic(), waiting.tries + 1
        with suppress(ConnectionResetError):  # the next connection repeats it
            await socket.send(json.dumps(waiting.frame, ensure_ascii=False))
