"""The gateway of the simulated KOOK: tickets, greeting, numbered events, pings and resumption."""

import asyncio
import json
import time
import zlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from parlour.testing.simulator import SimulatorSocket, SingleUseTokens
from parlour.testing.simulator.validation import InvalidRequest

from .world import Json

SEQUENCES = 65536
PING_LIMIT_SECONDS = 42.0


@dataclass
class KookSession:
    id: str
    sequence: int = 0
    sent: list[Json] = field(default_factory=list)


class KookGatewayServer:
    def __init__(self, notify: Callable[[], Awaitable[None]]) -> None:
        self._notify = notify
        self.address = ""
        self.tickets = SingleUseTokens()
        self.sessions: dict[str, KookSession] = {}
        self.session: KookSession | None = None
        self.socket: SimulatorSocket | None = None
        self.compresses = False
        self.connections = 0
        self.resumed = 0
        self.pings = 0
        self.hello_code = 0
        self.first_sequence = 0
        self.ping_limit_seconds = PING_LIMIT_SECONDS

    def url(self, compress: bool) -> str:
        return f"{self.address}/gateway?compress={int(compress)}&token={self.tickets.issue()}"

    async def serve(self, socket: SimulatorSocket) -> None:
        query = socket.request.query
        self.compresses = query.get("compress") == "1"
        self.connections += 1
        code = self.hello_code
        try:
            self.tickets.use(query.get("token"))
        except InvalidRequest:
            code = 40103
        if code:
            await self._send(socket, {"s": 1, "d": {"code": code}})
            await socket.close(1000)
            return
        resumes = query.get("resume") == "1"
        session = self.sessions.get(query.get("session_id", "")) if resumes else None
        if resumes and session is None:
            await self._send(socket, {"s": 5, "d": {"code": 40107, "err": "session expired"}})
            await socket.close(1000)
            return
        replays = (
            [] if session is None else [each for each in session.sent if self._after(each["sn"], int(query["sn"]))]
        )
        self.resumed += session is not None
        self.session = session = session or self._new_session()
        self.socket = socket
        await self._send(socket, {"s": 1, "d": {"code": 0, "session_id": session.id}})
        for frame in replays:
            await self._send(socket, frame)
        if resumes:
            await self._send(socket, {"s": 6, "d": {"session_id": session.id}})
        await self._notify()
        await self._listen(socket)

    async def _listen(self, socket: SimulatorSocket) -> None:
        heard = [time.monotonic()]
        watch = asyncio.create_task(self._watch(socket, heard))
        try:
            async for frame in socket.frames():
                payload = json.loads(frame)
                if payload.get("s") == 2:
                    heard[0] = time.monotonic()
                    self.pings += 1
                    await self._send(socket, {"s": 3})
                    await self._notify()
        finally:
            watch.cancel()
            if self.socket is socket:
                self.socket = None

    async def _watch(self, socket: SimulatorSocket, heard: list[float]) -> None:
        """Breaks a connection without pings."""
        while True:
            await asyncio.sleep(self.ping_limit_seconds / 4)
            if time.monotonic() - heard[0] > self.ping_limit_seconds:
                await socket.close(1000)
                return

    def _new_session(self) -> KookSession:
        session = KookSession(f"session-{len(self.sessions) + 1}", self.first_sequence)
        self.sessions[session.id] = session
        return session

    def _after(self, sequence: int, last: int) -> bool:
        return 0 < (sequence - last) % SEQUENCES < SEQUENCES // 2

    async def dispatch(self, data: Json) -> Json | None:
        """Reports an event in the session, now or when it is resumed."""
        if self.session is None:
            return None
        session = self.session
        session.sequence = session.sequence + 1 if session.sequence < SEQUENCES - 1 else 1
        frame = {"s": 0, "sn": session.sequence, "d": data}
        session.sent.append(frame)
        await self.send(frame)
        return frame

    async def send(self, frame: Json) -> None:
        if self.socket is not None:
            await self._send(self.socket, frame)

    async def _send(self, socket: SimulatorSocket, frame: Json) -> None:
        text = json.dumps(frame)
        with suppress(ConnectionResetError):  # a resumption repeats it
            await socket.send(zlib.compress(text.encode()) if self.compresses else text)
