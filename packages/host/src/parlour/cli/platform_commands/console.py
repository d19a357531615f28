"""The terminal of a probe: it shows lines, and waits for a line of the person or for something on the platform."""

import asyncio
import sys
import threading
from collections.abc import Callable
from typing import Protocol


class ProbeConsole(Protocol):
    """The port through which a probe asks the person who leads it."""

    def say(self, line: str) -> None: ...

    async def read(self) -> str | None:
        """Waits for a line of the person; None if there are no further ones."""
        ...


class TerminalConsole:
    """The standard streams. Lines are read by a thread, so that the platform is served in the meantime."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._read_lines, daemon=True).start()

    def say(self, line: str) -> None:
        print(self._redact(line), flush=True)

    async def read(self) -> str | None:
        line = await self._lines.get()
        if line is None:
            self._lines.put_nowait(None)  # the end of the input stays the end
        return line

    def _read_lines(self) -> None:
        for line in sys.stdin:
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line.strip())
        self._loop.call_soon_threadsafe(self._lines.put_nowait, None)
