"""Simulates the implementation of one account: it connects to a bot or listens for it, reports
events, and obeys calls.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Literal

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.http11 import Request, Response

from parlour.testing.simulator import PlatformSimulator

from . import native
from .actions import perform
from .cq_codes import written
from .faults import Faults
from .world import Failed, Payload, Segment, Sent, World

quiet_logger = logging.getLogger(f"{__name__}.socket")
quiet_logger.setLevel(logging.CRITICAL)  # tests look for log lines of the bot, not of this side
Format = Literal["array", "string"]
Socket = ClientConnection | ServerConnection
AGAIN_SECONDS = 0.05


class Simulator(PlatformSimulator[Sent, Failed]):
    def __init__(
        self, self_id: int = 10001, token: str = "", message_format: Format = "array", strict: bool = False
    ) -> None:
        self.world = World(self_id, strict)
        self.faults = Faults()
        super().__init__(self.faults, self.world.sent)
        self.token = token
        self.format: Format = message_format
        self.heartbeat_seconds = 0.0
        """Seconds between heartbeats; 0 for none."""
        self.reports_own = False
        """True if it also reports the account's own messages."""
        self.connections = 0
        """Number of connections so far."""
        self.refusal = 0
        """HTTP status of the last refused attempt to connect."""
        self.turns_away = 0
        """Number of the next clients that it refuses."""
        self.requests: list[Payload] = []
        """Every call, unchanged."""
        self.connect_options: dict[str, Any] = {}
        """Options of `websockets` for its own connections, such as `ssl`."""
        self._deaf = False
        """True if it never reads a connection for events only, as go-cqhttp and Lagrange."""
        self._socket: Socket | None = None

    @property
    def self_id(self) -> int:
        return self.world.self_id

    @property
    def connected(self) -> bool:
        return self._socket is not None

    # --- both directions

    @asynccontextmanager
    async def connecting(self, url: str, role: str = "Universal", **headers: str) -> AsyncIterator["Simulator"]:
        """Reverse mode: keeps a connection to the bot and reconnects whenever it is cut."""
        self._deaf = role == "Event"
        handshake_headers = {"X-Self-ID": str(self.self_id), "X-Client-Role": role, **headers}
        if self.token:
            handshake_headers["Authorization"] = f"Bearer {self.token}"
        self.begin(self._keep_connected(url, handshake_headers))
        try:
            yield self
        finally:
            await self.end_tasks()

    @asynccontextmanager
    async def listening(self, port: int = 0) -> AsyncIterator[str]:
        """Forward mode: yields the address to connect to."""

        def admit(socket: ServerConnection, request: Request) -> Response | None:
            if self.turns_away:
                self.turns_away -= 1
                return socket.respond(503, "not now\n")
            authorization = request.headers.get("Authorization", "")
            if self.token and authorization != f"Bearer {self.token}":
                return socket.respond(403 if authorization else 401, "wrong token\n")
            return None

        options: dict[str, Any] = {"process_request": admit, "max_size": None, "logger": quiet_logger}
        async with serve(self._talk, "127.0.0.1", port, **options) as server:
            number = next(iter(server.sockets)).getsockname()[1]
            try:
                yield f"ws://127.0.0.1:{number}"
            finally:
                await self.end_tasks()

    async def cut(self) -> None:
        """Breaks the connection as a network does, without a close frame."""
        if self._socket is not None:
            self._socket.transport.abort()
            await self.until(lambda: self._socket is None)

    # --- actions of users

    async def say(self, words: str | list[Segment], user_id: int = 1, group_id: int = 0, **fields: Any) -> Payload:
        segments = [native.text(words)] if isinstance(words, str) else words
        event = native.message(self.self_id, self.world.number(), user_id, segments, group_id)
        event.update(fields)
        self.world.messages[event["message_id"]] = event
        await self.report(event)
        return event

    async def report(self, event: Payload) -> None:
        """Sends an event, perhaps twice, perhaps after the next one."""
        for frame in self.scheduled(json.dumps(self._formatted(event), ensure_ascii=False)):
            await self.send_frame(frame)

    async def send_frame(self, frame: str | bytes) -> None:
        """Sends any text and waits for a connection first."""
        while True:
            await self.until(lambda: self._socket is not None)
            socket = self._socket
            assert socket is not None
            try:
                await socket.send(frame)
                return
            except ConnectionClosed:
                await self.until(lambda socket=socket: self._socket is not socket)  # type: ignore[misc]

    # --- the connection

    async def _keep_connected(self, url: str, headers: dict[str, str]) -> None:
        while True:
            try:
                options: dict[str, Any] = {
                    "max_size": None,
                    "proxy": None,
                    "logger": quiet_logger,
                    **self.connect_options,
                }
                async with connect(url, additional_headers=headers, **options) as socket:
                    await self._talk(socket)
            except InvalidHandshake as rejection:
                response = getattr(rejection, "response", None)
                self.refusal = response.status_code if response is not None else 0
                await self.notify()
            except (OSError, ConnectionClosed, TimeoutError, EOFError):
                pass
            await asyncio.sleep(AGAIN_SECONDS)

    async def _talk(self, socket: Socket) -> None:
        beating = asyncio.create_task(self._beat(socket))
        try:
            await socket.send(json.dumps(native.lifecycle(self.self_id)))
            self._socket = socket
            self.connections += 1
            await self.notify()
            if self._deaf:
                await socket.wait_closed()
            async for frame in socket:
                self.begin(self._answer(socket, json.loads(frame)))
        except ConnectionClosed:
            pass
        finally:
            beating.cancel()
            if self._socket is socket:
                self._socket = None
            await self.notify()

    async def _beat(self, socket: Socket) -> None:
        with suppress(ConnectionClosed):
            while True:
                if self.heartbeat_seconds:
                    beat = native.heartbeat(self.self_id, self.heartbeat_seconds, self.world.online)
                    await socket.send(json.dumps(beat))
                await asyncio.sleep(self.heartbeat_seconds or 0.05)

    async def _answer(self, socket: Socket, call: Payload) -> None:
        self.requests.append(call)
        action, params = str(call.get("action")), call.get("params") or {}

        async def performed() -> Any:
            self.faults.check_rate(action)
            return perform(self.world, action, params)

        outcome = await self.perform(action, performed, Failed)
        answer: Payload = {"status": "ok", "retcode": 0, "data": outcome.result, "message": "", "wording": ""}
        if (failed := outcome.refusal) is not None:
            answer = {"status": "failed", "retcode": failed.retcode, "data": failed.data, "wording": failed.wording}
        if "echo" in call:
            answer["echo"] = call["echo"]
        if outcome.cuts:
            socket.transport.abort()
        elif outcome.answers:
            with suppress(ConnectionClosed):
                await socket.send(json.dumps(answer, ensure_ascii=False))
                await self._report_own(action, answer)
        await self.notify()

    async def _report_own(self, action: str, answer: Payload) -> None:
        if not self.reports_own or not action.startswith("send_") or not answer["data"]:
            return
        message = self.world.sent[-1]
        group = int(message.chat.partition(":")[2]) if message.chat.startswith("group") else 0
        await self.report(native.message(self.self_id, message.message_id, self.self_id, message.segments, group))

    def _formatted(self, event: Payload) -> Payload:
        segments = event.get("message")
        if event.get("post_type") != "message" or not isinstance(segments, list):
            return event
        if any(not isinstance(each, dict) or set(each) != {"type", "data"} for each in segments):
            return event
        raw = written(segments)
        message = segments if self.format == "array" else raw
        return {**event, "message": message, "raw_message": raw, "message_format": self.format}
