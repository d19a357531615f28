"""The WebSocket of the simulated Mattermost: login, numbered events, and the queue of a lost connection."""

import itertools
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from parlour.testing.simulator import SimulatorSocket

from .world import Json

MAX_KEPT_EVENTS = 128
"""Number of events that are kept for a connection that was lost."""


@dataclass
class WebConnection:
    id: str
    socket: SimulatorSocket | None = None
    sequence: int = 0
    frames: list[Json] = field(default_factory=list)


class MattermostSocketServer:
    def __init__(self, token: str, notify: Callable[[], Awaitable[None]]) -> None:
        self._token = token
        self._notify = notify
        self._numbers = itertools.count(1)
        self.connection: WebConnection | None = None
        self.connections = 0
        self.resumed = 0
        self.pings = 0
        self.answers_pings = True

    def forget(self) -> None:
        """Forgets the queue of the lost connection, as a server that restarts."""
        self.connection = None

    async def serve(self, socket: SimulatorSocket) -> None:
        self.connections += 1
        connection: WebConnection | None = None
        if socket.request.headers.get("Authorization") == f"Bearer {self._token}":
            connection = await self._open(socket)
        async for frame in socket.frames():
            try:
                call = json.loads(frame)
            except ValueError:
                continue
            action, number = call.get("action"), call.get("seq")
            if action == "authentication_challenge":
                if connection is not None:
                    continue
                if call.get("data", {}).get("token") != self._token:
                    await socket.close()
                    return
                await socket.send(json.dumps({"status": "OK", "seq_reply": number}))
                connection = await self._open(socket)
            else:
                await self._answer(socket, connection, action, number)
        if connection is not None and connection.socket is socket:
            connection.socket = None
            await self._notify()

    async def _answer(
        self, socket: SimulatorSocket, connection: WebConnection | None, action: str, number: int
    ) -> None:
        if connection is None:
            error = {"id": "api.web_socket_router.not_authenticated.app_error", "status_code": 401}
            await socket.send(json.dumps({"status": "FAIL", "error": error, "seq_reply": number}))
        elif action == "ping":
            self.pings += 1
            if self.answers_pings:
                await socket.send(json.dumps({"status": "OK", "data": {"text": "pong"}, "seq_reply": number}))
            await self._notify()
        elif action == "user_typing":
            await socket.send(json.dumps({"status": "OK", "seq_reply": number}))
        else:
            error = {"id": "api.web_socket_router.bad_action.app_error", "status_code": 500}
            await socket.send(json.dumps({"status": "FAIL", "error": error, "seq_reply": number}))

    async def _open(self, socket: SimulatorSocket) -> WebConnection:
        """Continues a lost connection that the client names, without a greeting, or begins another one."""
        query, known = socket.request.query, self.connection
        sequence = int(query.get("sequence_number") or 0)
        kept = [each["seq"] for each in known.frames] if known is not None else []
        if known is not None and query.get("connection_id") == known.id and sequence in (*kept, known.sequence):
            self.resumed += 1
            known.socket = socket
            for frame in [each for each in known.frames if each["seq"] >= sequence]:
                await self._send(socket, frame)
        else:
            self.connection = known = WebConnection(f"connection{next(self._numbers)}", socket)
            data = {"connection_id": known.id, "server_version": "11.1.0", "server_hostname": "mm"}
            await self.dispatch({"event": "hello", "data": data, "broadcast": {"user_id": "bot"}})
        await self._notify()
        return known

    async def dispatch(self, event: Json) -> Json | None:
        """Reports an event, now or when the connection is continued. Returns its frame."""
        connection = self.connection
        if connection is None:
            return None
        frame = {**event, "seq": connection.sequence}
        connection.sequence += 1
        connection.frames = [*connection.frames, frame][-MAX_KEPT_EVENTS:]
        await self.send(frame)
        return frame

    async def send(self, frame: Json) -> None:
        """Sends a frame as it is, such as one that was sent before."""
        if self.connection is not None and self.connection.socket is not None:
            await self._send(self.connection.socket, frame)

    async def _send(self, socket: SimulatorSocket, frame: Json) -> None:
        with suppress(ConnectionResetError):  # it is kept for the next connection
            await socket.send(json.dumps(frame))
