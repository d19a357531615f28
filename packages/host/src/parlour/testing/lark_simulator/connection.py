"""The long connection of the simulated Feishu: binary frames, parts, acknowledgements and repetitions."""

import asyncio
import base64
import itertools
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from parlour.testing.simulator import SimulatorSocket, SingleUseTokens
from parlour.testing.simulator.validation import InvalidRequest

from .world import Json

RETRY_SECONDS = 15.0
SERVICE = 33554678
PART_BYTES = 64 * 1024
MAX_CONNECTIONS = 50


def write_frame(method: int, headers: dict[str, str], payload: bytes = b"", service: int = SERVICE) -> bytes:
    parts = [_pack(1, 7), _pack(2, 9), _pack(3, service), _pack(4, method)]
    for name, value in headers.items():
        parts.append(_pack(5, _pack(1, name.encode()) + _pack(2, value.encode())))
    return b"".join(parts) + (_pack(8, payload) if payload else b"")


def read_frame(data: bytes) -> tuple[dict[int, Any], dict[str, str]]:
    """Returns the fields of a frame by number, and its headers."""
    fields: dict[int, Any] = {}
    headers: dict[str, str] = {}
    for number, value in _unpack(data):
        if number == 5:
            pair = dict(_unpack(value))
            headers[pair[1].decode()] = pair[2].decode()
        else:
            fields[number] = value
    return fields, headers


def _pack(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    head, rest = value & 0x7F, value >> 7
    return bytes([head | 0x80]) + _varint(rest) if rest else bytes([head])


def _unpack(data: bytes) -> list[tuple[int, Any]]:
    found: list[tuple[int, Any]] = []
    place = 0

    def varint() -> int:
        nonlocal place
        value, shift = 0, 0
        while True:
            byte = data[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while place < len(data):
        tag = varint()
        if tag & 7 == 0:
            found.append((tag >> 3, varint()))
        else:
            assert tag & 7 == 2, "the bot sent a field of an unexpected kind"
            size = varint()
            found.append((tag >> 3, data[place : place + size]))
            place += size
    return found


@dataclass
class WaitingReport:
    """A report that waits for its acknowledgement."""

    message_id: str
    payload: bytes
    tries: int = 1
    sent_at: float = field(default_factory=time.monotonic)


class LongConnectionServer:
    def __init__(self, notify: Callable[[], Awaitable[None]]) -> None:
        self._notify = notify
        self.address = ""
        self.tickets = SingleUseTokens()
        self.sockets: list[SimulatorSocket] = []
        self.connections = 0
        self.most_sockets = 0
        self.pings = 0
        self.waiting: dict[str, WaitingReport] = {}
        self.answers: list[Json] = []
        """Acknowledgements, with the response to the user decoded."""
        self.retry_seconds = RETRY_SECONDS
        self.part_bytes = PART_BYTES
        self.ping_interval = 120
        self._numbers = itertools.count(1)

    def url(self) -> str:
        ticket = self.tickets.issue()
        return f"{self.address}/ws/v2?fpid=493&aid=552564&device_id=1&access_key=k&service_id={SERVICE}&ticket={ticket}"

    async def serve(self, socket: SimulatorSocket) -> None:
        try:
            self.tickets.use(socket.request.query.get("ticket"))
        except InvalidRequest:
            await socket.close(1008, "invalid ticket")
            return
        self.sockets.append(socket)
        self.connections += 1
        self.most_sockets = max(self.most_sockets, len(self.sockets))
        repeat = asyncio.create_task(self._repeat(socket))
        try:
            for each in list(self.waiting.values()):
                await self._send(socket, each)
            await self._notify()
            async for data in socket.frames():
                assert isinstance(data, bytes), "frames are binary"
                await self._read(socket, data)
                await self._notify()
        except ConnectionResetError:
            pass
        finally:
            repeat.cancel()
            self.sockets.remove(socket)
            await self._notify()

    async def _read(self, socket: SimulatorSocket, data: bytes) -> None:
        fields, headers = read_frame(data)
        assert {1, 2, 3, 4} <= set(fields), "a required field is missing"
        if fields[4] == 0:
            assert (headers["type"], fields[3]) == ("ping", SERVICE)
            self.pings += 1
            await socket.send(write_frame(0, {"type": "pong"}))
            return
        answer = json.loads(fields[8])
        if "data" in answer:
            answer["data"] = json.loads(base64.b64decode(answer["data"]))
        self.answers.append(answer)
        if answer["code"] == 200:
            self.waiting.pop(headers["message_id"], None)

    async def _repeat(self, socket: SimulatorSocket) -> None:
        """Reports again what was not acknowledged in time."""
        while True:
            await asyncio.sleep(min(self.retry_seconds / 3, 0.5))
            for each in list(self.waiting.values()):
                if time.monotonic() - each.sent_at >= self.retry_seconds:
                    each.sent_at = time.monotonic()
                    each.tries += 1
                    await self._send(socket, each)
                    await self._notify()

    async def report(self, report: Json) -> WaitingReport:
        """Reports something until it is acknowledged, over one of the connections."""
        payload = json.dumps(report, ensure_ascii=False).encode()
        waiting = WaitingReport(f"message-{next(self._numbers)}", payload)
        self.waiting[waiting.message_id] = waiting
        await self.send(waiting)
        return waiting

    async def send(self, report: WaitingReport) -> None:
        self.waiting.setdefault(report.message_id, report)
        if self.sockets:
            await self._send(self.sockets[len(self.waiting) % len(self.sockets)], report)

    async def _send(self, socket: SimulatorSocket, report: WaitingReport) -> None:
        size = self.part_bytes
        parts = [report.payload[first : first + size] for first in range(0, len(report.payload), size)]
        for place, part in enumerate(parts):
            headers = {
                "type": "event", "message_id": report.message_id, "trace_id": "t", "sum": str(len(parts)),
                "seq": str(place),
            }  # fmt: skip
            with suppress(ConnectionResetError):  # the next connection repeats it
                await socket.send(write_frame(1, headers, part))
