"""Measures the minimum cost of one message on this machine: a round trip to a process, and four durable commits."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic_core import from_json, to_json

from .databases import Ledger
from .rows import MessageRows, Template

REQUEST_BYTES = 1371
"""Size of a run request for a message of three words, including the newline."""
ANSWER_BYTES = 1174
"""Size of all frames of its answer; the baseline sends them as one, since it has no fragments."""
TIDY_EVERY = 30
"""Messages after which SQLite's write-ahead log is reset, between timings; the Host resets its log at about this
size."""


def yardstick() -> float:
    """Returns the CPU milliseconds of a fixed piece of Python work, as a measure of the machine's current speed."""
    value = {"messages": [{"role": "user", "content": f"message {number}"} for number in range(100)]}
    started = time.process_time()
    for _ in range(20):
        json.loads(json.dumps(value))
        sorted(value["messages"], key=lambda message: message["content"])
    return 1000 * (time.process_time() - started)


class Echo:
    """Measures round trips of JSON lines over a pipe."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._writer, self._reader = process.stdin, process.stdout
        self._filling = "x" * (REQUEST_BYTES - 30)

    async def sequential(self, count: int) -> list[float]:
        seconds = []
        for number in range(count):
            started = time.perf_counter()
            self._send(number)
            from_json(await self._reader.readline())
            seconds.append(time.perf_counter() - started)
        return seconds

    async def rate(self, count: int, in_flight: int = 50) -> float:
        """Returns messages per second with several in flight."""
        started = time.perf_counter()
        for number in range(in_flight):
            self._send(number)
        for number in range(count):
            from_json(await self._reader.readline())
            if number < count - in_flight:
                self._send(number)
        return count / (time.perf_counter() - started)

    def _send(self, number: int) -> None:
        self._writer.write(to_json({"seq_id": number, "data": self._filling}) + b"\n")


@asynccontextmanager
async def echo() -> AsyncIterator[Echo]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(Path(__file__).with_name("echo_child.py")),
        str(ANSWER_BYTES - 25),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield Echo(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


class Commits:
    """Measures four transactions per message, one after the other, without any other work."""

    def __init__(self, ledger: Ledger, template: Template) -> None:
        self._ledger = ledger
        self._rows = MessageRows(template)

    async def prepare(self) -> None:
        await self._ledger.commit(self._rows.first())
        await self.sequential(TIDY_EVERY)

    async def sequential(self, count: int) -> list[float]:
        """Returns the seconds per message."""
        seconds = []
        for number in range(count):
            transactions = self._rows.next()
            started = time.perf_counter()
            for transaction in transactions:
                await self._ledger.commit(transaction)
            seconds.append(time.perf_counter() - started)
            if number % TIDY_EVERY == TIDY_EVERY - 1:
                await self._ledger.tidy()
        return seconds
