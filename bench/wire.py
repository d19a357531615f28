"""Measures the wire between two processes: calls and stream parts against bare JSON lines, and memory over a million
parts."""

import asyncio
import itertools
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from pydantic_core import from_json, to_json

from parlour_sdk.wire import Peer, StdioTransport

from .host import Unmeasurable
from .report import Figure, Target
from .wire_child import UNCAPPED, Echo

CHILD = Path(__file__).with_name("wire_child.py")
IN_FLIGHT = 50
MEBIBYTE = 1024 * 1024
Call = Callable[[str, Any], Awaitable[Any]]
QUESTION = {"run_id": "0197c2f4-0000-7000-8000-000000000000", "scope": "conversation", "key": "echo.seen"}
"""Data of a small call, since the overhead per frame is what is measured."""
PART = {
    "run_id": QUESTION["run_id"],
    "type": "message.delta",
    "data": {"chunk": {"role": "assistant", "content": "word "}},
    "sequence": 1,
    "timestamp": 1_790_000_000_000,
}


@dataclass(frozen=True, slots=True)
class Size:
    rounds: int
    per_round: int
    parts: int
    """Parts of the one long stream."""


FULL = Size(rounds=9, per_round=20_000, parts=1_000_000)
QUICK = Size(rounds=3, per_round=5_000, parts=100_000)


async def measure(size: Size) -> list[Figure]:
    async with _peer() as (peer, child), _lines() as lines:
        return [*await _rates(peer, lines, size.rounds, size.per_round), *await _flat(peer, child, size.parts)]


async def _rates(peer: Peer, lines: "Lines", rounds: int, count: int) -> list[Figure]:
    """Measures alternately, so that other load of the machine affects all equally."""
    calls: list[tuple[float, float]] = []
    parts: list[tuple[float, float]] = []
    for _ in range(rounds + 1):
        calls.append((await _calls(peer.call, count), await _calls(lines.call, count, lines.answers(count))))
        parts.append((await _parts(peer, count), await lines.rate(PART, count)))
    return [*_comparison("calls", calls[1:]), *_comparison("stream parts", parts[1:])]  # the first round is a warm-up


def _comparison(name: str, rounds: list[tuple[float, float]]) -> list[Figure]:
    """Compares the rates; each round has the wire's rate and that of the bare lines."""
    rates, floor = zip(*rounds, strict=True)
    by_round = [rate / line for rate, line in rounds]
    spread = f"{min(by_round):.2f} to {max(by_round):.2f} over {len(by_round)} rounds"
    return [
        Figure(f"{name}, {IN_FLIGHT} in flight", median(rates), "/s", note=f"bare JSON lines: {median(floor):,.0f}/s"),
        Figure(f"{name} by bare JSON lines", median(by_round), "times", Target(0.5, "at least"), spread),
    ]


async def _calls(call: Call, count: int, *background: Awaitable[None]) -> float:
    """Returns calls per second with a fixed number in flight; each is repeated as soon as it is answered."""
    turns = itertools.repeat(None, count)

    async def ask() -> None:
        for _ in turns:
            if await call("echo", QUESTION) != QUESTION:
                raise Unmeasurable("a call came back with another's answer")

    return await _rate(count, *(ask() for _ in range(IN_FLIGHT)), *background)


async def _parts(peer: Peer, count: int) -> float:
    async def read() -> int:
        return await _read(peer, count // IN_FLIGHT)

    return await _rate(count // IN_FLIGHT * IN_FLIGHT, *(read() for _ in range(IN_FLIGHT)))


async def _read(peer: Peer, count: int) -> int:
    """Reads a stream as the Host reads a run: all available parts at a time."""
    stream = peer.stream("parts", {"count": count, "part": PART})
    read = 0
    while batch := await stream.batch():
        read += len(batch)
    if read != count:
        raise Unmeasurable(f"{read} of {count} parts came")
    return read


async def _rate(count: int, *work: Any) -> float:
    started = time.perf_counter()
    await asyncio.gather(*work)
    return count / (time.perf_counter() - started)


async def _flat(peer: Peer, child: int, count: int) -> list[Figure]:
    """Compares the memory of both sides after a tenth of the parts and after all of them."""
    await _read(peer, count // 10)
    before_bytes = [_resident(pid) for pid in (os.getpid(), child)]
    started = time.perf_counter()
    await _read(peer, count)
    rate = count / (time.perf_counter() - started)
    growth_mb = [(_resident(pid) - was) / MEBIBYTE for pid, was in zip((os.getpid(), child), before_bytes, strict=True)]
    return [
        Figure(f"{count:,} parts of one stream", rate, "/s"),
        Figure("memory that grew meanwhile, reader", growth_mb[0], "MB", Target(5)),
        Figure("memory that grew meanwhile, sender", growth_mb[1], "MB", Target(5)),
    ]


def _resident(pid: int) -> int:
    return int(psutil.Process(pid).memory_info().rss)


class Lines:
    """The baseline: JSON lines in both directions, answers assigned by number. No limits, no errors, no order."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._writer, self._reader = process.stdin, process.stdout
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._numbers = itertools.count()

    async def call(self, action: str, data: Any) -> Any:
        number = next(self._numbers)
        answer = self._pending[number] = asyncio.get_running_loop().create_future()
        self._send(number, action, data)
        return await answer

    async def answers(self, count: int) -> None:
        """Reads this many answers and resolves their futures."""
        for _ in range(count):
            line = from_json(await self._reader.readline())
            self._pending.pop(line["seq_id"]).set_result(line["data"])

    async def rate(self, content: Any, count: int) -> float:
        """Returns lines per second without awaiting each answer separately, like the parts of a stream."""
        started = time.perf_counter()
        for number in range(IN_FLIGHT):
            self._send(number, "parts", content)
        for number in range(count):
            from_json(await self._reader.readline())
            if number < count - IN_FLIGHT:
                self._send(number, "parts", content)
        return count / (time.perf_counter() - started)

    def _send(self, number: int, action: str, content: Any) -> None:
        self._writer.write(to_json({"seq_id": number, "action": action, "data": content}) + b"\n")


@asynccontextmanager
async def _lines() -> AsyncIterator[Lines]:
    async with _child("lines", asyncio.subprocess.PIPE, asyncio.subprocess.PIPE) as process:
        yield Lines(process)


@asynccontextmanager
async def _peer() -> AsyncIterator[tuple[Peer, int]]:
    """Yields the peer and the process id of its other side."""
    child_read, write_fd = os.pipe()
    read_fd, child_write = os.pipe()
    async with _child("peer", child_read, child_write) as process:
        os.close(child_read)
        os.close(child_write)
        peer = Peer(StdioTransport(read_fd, write_fd, UNCAPPED), Echo(), UNCAPPED)
        peer.start()
        try:
            yield peer, process.pid
        finally:
            peer.close()


@asynccontextmanager
async def _child(kind: str, read: int, write: int) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(sys.executable, str(CHILD), kind, stdin=read, stdout=write)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
