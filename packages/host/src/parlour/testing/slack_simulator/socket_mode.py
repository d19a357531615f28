"""Socket Mode of the simulated Slack: tickets, envelopes, acknowledgements and repetitions."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from parlour.testing.simulator import SimulatorSocket, SingleUseTokens
from parlour.testing.simulator.validation import InvalidRequest

from .world import APP, Json

RETRY_SECONDS = 3.0
MAX_CONNECTIONS = 10


@dataclass
class Envelope:
    """A report that waits for its acknowledgement."""

    frame: Json
    sent_at: float = field(default_factory=time.monotonic)


class SocketModeServer:
    def __init__(self, notify: Callable[[], Awaitable[None]]) -> None:
        self._notify = notify
        self.address = ""
        self.tickets = SingleUseTokens()
        self.sockets: list[SimulatorSocket] = []
        self.waiting: dict[str, Envelope] = {}
        self.most_sockets = 0
        self.connections = 0
        self.answers: list[Json] = []
        self.retry_seconds = RETRY_SECONDS
        self._numbers = iter(range(1, 10**9))

    def url(self) -> str:
        return f"{self.address}/link?ticket={self.tickets.issue()}&app_id={APP}"

    async def serve(self, socket: SimulatorSocket) -> None:
        try:
            self.tickets.use(socket.request.query.get("ticket"))
        except InvalidRequest:
            await socket.close(1008, "invalid ticket")
            return
        if len(self.sockets) >= MAX_CONNECTIONS:
            await socket.close(1013, "too many connections")
            return
        self.sockets.append(socket)
        self.connections += 1
        self.most_sockets = max(self.most_sockets, len(self.sockets))
        hello = {
            "type": "hello", "num_connections": len(self.sockets), "connection_info": {"app_id": APP},
            "debug_info": {"host": "applink-1", "approximate_connection_time": 18060},
        }  # fmt: skip
        repeat = asyncio.create_task(self._repeat(socket))
        try:
            await socket.send(json.dumps(hello))
            for envelope in list(self.waiting.values()):
                await self._send(socket, envelope.frame)
            await self._notify()
            async for frame in socket.frames():
                self._acknowledge(json.loads(frame))
                await self._notify()
        except ConnectionResetError:
            pass
        finally:
            repeat.cancel()
            self.sockets.remove(socket)
            await self._notify()

    def _acknowledge(self, answer: Json) -> None:
        self.answers.append(answer)
        self.waiting.pop(str(answer.get("envelope_id")), None)

    async def _repeat(self, socket: SimulatorSocket) -> None:
        """Reports again what was not acknowledged in time."""
        while True:
            await asyncio.sleep(self.retry_seconds / 3)
            for envelope in list(self.waiting.values()):
                if time.monotonic() - envelope.sent_at >= self.retry_seconds:
                    envelope.sent_at = time.monotonic()
                    envelope.frame |= {"retry_attempt": envelope.frame["retry_attempt"] + 1, "retry_reason": "timeout"}
                    await self._send(socket, envelope.frame)
                    await self._notify()

    async def report(self, kind: str, payload: Any) -> Json:
        """Reports something until it is acknowledged, over one of the connections."""
        envelope_id = f"envelope-{next(self._numbers)}"
        frame = {
            "envelope_id": envelope_id, "type": kind, "accepts_response_payload": kind != "events_api",
            "payload": payload, "retry_attempt": 0, "retry_reason": "",
        }  # fmt: skip
        self.waiting[envelope_id] = Envelope(frame)
        await self.send(frame)
        return frame

    async def send(self, frame: Json) -> None:
        if self.sockets:
            await self._send(self.sockets[len(self.waiting) % len(self.sockets)], frame)

    async def disconnect(self, reason: str) -> None:
        for socket in list(self.sockets):
            await self._send(socket, {"type": "disconnect", "reason": reason, "debug_info": {}})

    async def _send(self, socket: SimulatorSocket, frame: Json) -> None:
        with suppress(ConnectionResetError):  # the next connection repeats it
            await socket.send(json.dumps(frame))
