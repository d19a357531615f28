"""Collects a plugin's output: the last lines for display, all of it in a file, at a limited rate."""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from itertools import islice

from parlour.core.redaction import Redactor

from .log_file import LogFile

MAX_LINES = 1000
MAX_LINE_CHARACTERS = 4000
MAX_LINE_BYTES = 4 * MAX_LINE_CHARACTERS
MAX_EXCERPT_CHARACTERS = 500
BLOCK_BYTES = 16 * 1024
"""Bytes per read. If they are short lines, they block the event loop for a few milliseconds."""
MAX_BYTES_PER_SECOND = 256 * 1024
MAX_BURST_BYTES = 1024 * 1024
LINE_OVERHEAD_BYTES = 64
"""Bytes that each line counts in addition to its content, since even an empty one has a cost."""
MAX_READ_BYTES_PER_SECOND = 16 * 1024 * 1024
"""Bytes read per second; a plugin that writes faster waits. The wait is short, since a plugin that writes a lot at a
time would otherwise seem to hang."""
PAUSE_FACTOR = 4
"""The rest of the Host gets this many times the time that a plugin's output takes."""
DROPPED_LINES_TEXT = "({count} lines were dropped: a plugin's log may grow by {kilobytes} KiB a second)"


class LogBuffer:
    """Keeps the last lines of a plugin's output and writes all of them to a file."""

    def __init__(self, redactor: Redactor, file: LogFile | None = None) -> None:
        self._redactor = redactor
        self._file = file
        self._lines: deque[str] = deque(maxlen=MAX_LINES)
        self.count = 0
        """Number of all lines so far."""

    def lines(self) -> list[str]:
        return list(self._lines)

    def last_line(self, after: int) -> str:
        """Returns the last line that is not blank, among those after the first `after`; empty if there is none."""
        recent = islice(reversed(self._lines), self.count - after)
        return next((line for line in recent if line.strip()), "")

    def add(self, lines: Sequence[str]) -> None:
        """Adds lines without their secrets. Adding a block costs less than adding its lines one by one."""
        lines = self._redactor.redact("\n".join(lines)).split("\n") if lines else ()
        self._lines.extend(lines)
        self.count += len(lines)
        if self._file is not None and lines:
            self._file.write(lines)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    async def read_stream(self, stream: asyncio.StreamReader) -> None:
        """Reads the stream until it ends."""
        loop = asyncio.get_running_loop()
        cutter, allowance = _LineSplitter(), _ByteBudget(loop.time())
        while block := await stream.read(BLOCK_BYTES):
            started_at = time.monotonic()
            self.add(allowance.admit(block, cutter, loop.time()))
            elapsed = time.monotonic() - started_at
            await asyncio.sleep(max(len(block) / MAX_READ_BYTES_PER_SECOND, PAUSE_FACTOR * elapsed))
        self.add(allowance.flush(cutter))


class _LineSplitter:
    """Splits blocks into lines. Only the beginning of an unfinished line is kept."""

    def __init__(self) -> None:
        self._partial_line = b""
        self._inside_skipped_line = False
        """The beginning of the current line was skipped, so its end is useless."""
        self._skipped = b""
        """End of the skipped output: the last lines are worth more than others."""

    def split(self, block: bytes) -> list[str]:
        head, newline, rest = block.partition(b"\n")
        if self._inside_skipped_line:
            self._inside_skipped_line = not newline
            head, newline, rest = rest.partition(b"\n")
        *complete, unfinished = (self._partial_line + head + newline + rest).split(b"\n")
        self._partial_line = unfinished[:MAX_LINE_BYTES]
        self._skipped = b""
        return [_text(line) for line in complete]

    def skip(self, block: bytes) -> int:
        """Returns how many lines ended in a block that is skipped."""
        line_count = block.count(b"\n")
        if line_count:
            self._partial_line = b""
        if not self._partial_line:
            self._inside_skipped_line = not block.endswith(b"\n")
        self._skipped = (self._skipped + block)[-MAX_LINE_BYTES:]
        return line_count

    def flush(self) -> list[str]:
        """Returns the remaining lines after the end of the stream."""
        last = self._partial_line or self._skipped.partition(b"\n")[2]
        return [_text(line) for line in last.split(b"\n") if line]


class _ByteBudget:
    """A bucket of bytes that refills over time. Output that does not fit is dropped, and a later line says how much."""

    def __init__(self, now: float) -> None:
        self._available_bytes: float = MAX_BURST_BYTES
        self._filled_at = now
        self._dropped = 0

    def admit(self, block: bytes, cutter: _LineSplitter, now: float) -> list[str]:
        self._available_bytes = min(
            MAX_BURST_BYTES, self._available_bytes + (now - self._filled_at) * MAX_BYTES_PER_SECOND
        )
        self._filled_at = now
        if self._available_bytes < len(block):  # not even split into lines: a flood must cost almost nothing
            self._dropped += cutter.skip(block)
            return []
        lines = cutter.split(block)
        self._available_bytes -= len(block) + len(lines) * LINE_OVERHEAD_BYTES
        return [*self._dropped_note(), *lines]

    def flush(self, cutter: _LineSplitter) -> list[str]:
        return [*self._dropped_note(), *cutter.flush()]

    def _dropped_note(self) -> list[str]:
        dropped, self._dropped = self._dropped, 0
        return [DROPPED_LINES_TEXT.format(count=dropped, kilobytes=MAX_BYTES_PER_SECOND // 1024)] if dropped else []


def printable_excerpt(text: str) -> str:
    """Returns the beginning of a plugin's text for display.

    Characters that can't be printed are replaced, since a terminal could execute them.
    """
    return "".join(character if character.isprintable() else " " for character in text[:MAX_EXCERPT_CHARACTERS])


def _text(line: bytes) -> str:
    return line[:MAX_LINE_BYTES].decode(errors="replace")[:MAX_LINE_CHARACTERS]
