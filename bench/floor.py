"""What one message costs at least on this machine, now: a hop to a process and back, and four durable commits."""

import asyncio
import json
import sqlite3
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic_core import from_json, to_json

from .rows import MessageRows, Template

REQUEST_BYTES = 1371
"""A run request of a message of three words, newline included."""
ANSWER_BYTES = 1174
"""All frames of its answer together; here they are one, since a floor has no fragments."""
CHECKPOINT_EVERY = 30
"""Messages after which the log begins anew, between timings: the Host's has about that many when it does."""


def yardstick() -> float:
    """CPU milliseconds of a fixed piece of Python work: how fast this machine is just now."""
    value = {"messages": [{"role": "user", "content": f"message {number}"} for number in range(100)]}
    started = time.process_time()
    for _ in range(20):
        json.loads(json.dumps(value))
        sorted(value["messages"], key=lambda message: message["content"])
    return 1000 * (time.process_time() - started)


class Echo:
    """Round trips of JSON lines over a pipe."""

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
        """Messages per second with several on their way."""
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
    """Four transactions per message, with the Host's pragmas, on one thread and with nothing around them."""

    def __init__(self, file: Path, template: Template) -> None:
        self._connection = sqlite3.connect(file, isolation_level=None, cached_statements=512)
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "wal_autocheckpoint=0"):
            self._connection.execute(f"PRAGMA {pragma}").fetchall()
        self._rows = MessageRows(template)
        self._rows.prepare(self._connection)
        self.sequential(CHECKPOINT_EVERY)

    def sequential(self, count: int) -> list[float]:
        """Seconds per message."""
        execute = self._connection.execute
        seconds = []
        for number in range(count):
            transactions = self._rows.next()
            started = time.perf_counter()
            for transaction in transactions:
                execute("BEGIN IMMEDIATE")
                for text, parameters in transaction:
                    execute(text, parameters)
                execute("COMMIT")
            seconds.append(time.perf_counter() - started)
            if number % CHECKPOINT_EVERY == CHECKPOINT_EVERY - 1:
                execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        return seconds

    def close(self) -> None:
        self._connection.close()
