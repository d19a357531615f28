"""The gateway of the simulated QQ: sessions, heartbeats, resumption, intents and close codes."""

import itertools
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from parlour.testing.simulator import SimulatorSocket

from .rules import Json

C2C_AND_GROUPS = 1 << 25


class GatewayServer:
    def __init__(self, notify: Callable[[], Awaitable[None]], is_token: Callable[[str], bool]) -> None:
        self._notify = notify
        self._is_token = is_token
        self.address = ""
        self.socket: SimulatorSocket | None = None
        self.connections = 0
        self.identified = 0
        self.resumed = 0
        self.beats = 0
        self.session = ""
        self.log: list[Json] = []
        """All events of the session, in order; the number of each is its place, from 1."""
        self.allowed_intents = ~0
        self.heartbeat_interval = 45_000
        self.bot: Json = {}
        self._numbers = itertools.count(1)

    async def serve(self, socket: SimulatorSocket) -> None:
        self.connections += 1
        await self._send(socket, {"op": 10, "d": {"heartbeat_interval": self.heartbeat_interval}})
        try:
            async for data in socket.frames():
                await self._read(socket, json.loads(data))
                await self._notify()
        except ConnectionResetError:
            pass
        finally:
            if self.socket is socket:
                self.socket = None
            await self._notify()

    async def _read(self, socket: SimulatorSocket, frame: Json) -> None:
        data: Any = frame.get("d")
        match frame["op"]:
            case 1:
                self.beats += 1
                await self._send(socket, {"op": 11})
            case 2 if not self._is_token(str(data["token"]).removeprefix("QQBot ")):
                await socket.close(4004, "invalid token")
            case 2 if data["intents"] & ~self.allowed_intents:
                await socket.close(4014, "disallowed intents")
            case 2:
                await self._identify(socket)
            case 6 if data["session_id"] != self.session:
                await self._send(socket, {"op": 9, "d": False})
            case 6:
                await self._resume(socket, data["seq"])

    async def _identify(self, socket: SimulatorSocket) -> None:
        self.identified += 1
        self.session, self.log, self.socket = f"session{next(self._numbers)}", [], socket
        ready = {"version": 1, "session_id": self.session, "user": self.bot, "shard": [0, 1]}
        await self.dispatch("READY", ready)

    async def _resume(self, socket: SimulatorSocket, position: int) -> None:
        self.resumed += 1
        self.socket = socket
        for number, frame in enumerate(self.log[position:], position + 1):
            await self._send(socket, {**frame, "s": number})
        await self.dispatch("RESUMED", "")

    async def dispatch(self, kind: str, data: Any, event_id: str = "") -> None:
        """Reports an event; one for which there is no connection is replayed when the session is resumed."""
        frame = {"op": 0, "t": kind, "d": data, **({"id": event_id} if event_id else {})}
        self.log.append(frame)
        if self.socket is not None:
            with suppress(ConnectionResetError):
                await self._send(self.socket, {**frame, "s": len(self.log)})

    async def ask_to_reconnect(self) -> None:
        assert self.socket is not None
        await self._send(self.socket, {"op": 7})

    async def close(self, code: int) -> None:
        assert self.socket is not None
        await self.socket.close(code)

    async def _send(self, socket: SimulatorSocket, frame: Json) -> None:
        await socket.send(json.dumps(frame, ensure_ascii=False))
