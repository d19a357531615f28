"""Collects a plugin's output: the last lines for display, all of it in a file, at a limited rate."""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from itertools import islice

from parlour.core.redaction import REDACTOR

from .log_file import LogFile

LINES = 1000
LINE_CHARACTERS = 4000
LINE_BYTES = 4 * LINE_CHARACTERS
BRIEF_CHARACTERS = 500
BLOCK_BYTES = 16 * 1024
"""Bytes per read. If they are short lines, they block the event loop for a few milliseconds."""
KEPT_PER_SECOND = 256 * 1024
KEPT_AT_ONCE = 1024 * 1024
LINE_COST = 64
"""Bytes that each line counts in addition to its content, since even an empty one has a cost."""
READ_PER_SECOND = 16 * 1024 * 1024
"""Bytes read per second; a plugin that writes faster waits. The wait is short, since a plugin that writes a lot at a
time would otherwise seem to hang."""
OTHERS_SHARE = 4
"""The rest of the Host gets this many times the time that a plugin's output takes."""
DROPPED = "({count} lines were dropped: a plugin's log may grow by {kilobytes} KiB a second)"


class LogBuffer:
    """Keeps the last lines of a plugin's output and writes all of them to a file."""

    def __init__(self, file: LogFile | None = None) -> None:
        self._file = file
        self._lines: deque[str] = deque(maxlen=LINES)
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
        lines = REDACTOR.clean("\n".join(lines)).split("\n") if lines else ()
        self._lines.extend(lines)
        self.count += len(lines)
        if self._file is not None and lines:
            self._file.write(lines)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    async def follow(self, stream: asyncio.StreamReader) -> None:
        """Reads the stream until it ends."""
        loop = asyncio.get_running_loop()
        cutter, allowance = _Cutter(), _Allowance(loop.time())
        while block := await stream.read(BLOCK_BYTES):
            begun = time.monotonic()
            self.add(allowance.pass_on(block, cutter, loop.time()))
            taken = time.monotonic() - begun
            await asyncio.sleep(max(len(block) / READ_PER_SECOND, OTHERS_SHARE * taken))
        self.add(allowance.last(cutter))


class _Cutter:
    """Splits blocks into lines. Only the beginning of an unfinished line is kept."""

    def __init__(self) -> None:
        self._begun = b""
        self._within_lost = False
        """The beginning of the current line was skipped, so its end is useless."""
        self._skipped = b""
        """End of the skipped output: the last lines are worth more than others."""

    def cut(self, block: bytes) -> list[str]:
        first, newline, others = block.partition(b"\n")
        if self._within_lost:
            self._within_lost = not newline
            first, newline, others = others.partition(b"\n")
        *whole, begun = (self._begun + first + newline + others).split(b"\n")
        self._begun = begun[:LINE_BYTES]
        self._skipped = b""
        return [_text(line) for line in whole]

    def skip(self, block: bytes) -> int:
        """Returns how many lines ended in a block that is skipped."""
        ended = block.count(b"\n")
        if ended:
            self._begun = b""
        if not self._begun:
            self._within_lost = not block.endswith(b"\n")
        self._skipped = (self._skipped + block)[-LINE_BYTES:]
        return ended

    def rest(self) -> list[str]:
        """Returns the remaining lines after the end of the stream."""
        last = self._begun or self._skipped.partition(b"\n")[2]
        return [_text(line) for line in last.split(b"\n") if line]


class _Allowance:
    """A bucket of bytes that refills over time. Output that does not fit is dropped, and a later line says how much."""

    def __init__(self, now: float) -> None:
        self._room: float = KEPT_AT_ONCE
        self._filled_at = now
        self._dropped = 0

    def pass_on(self, block: bytes, cutter: _Cutter, now: float) -> list[str]:
        self._room = min(KEPT_AT_ONCE, self._room + (now - self._filled_at) * KEPT_PER_SECOND)
        self._filled_at = now
        if self._room < len(block):  # not even split into lines: a flood must cost almost nothing
            self._dropped += cutter.skip(block)
            return []
        lines = cutter.cut(block)
        self._room -= len(block) + len(lines) * LINE_COST
        return [*self._said(), *lines]

    def last(self, cutter: _Cutter) -> list[str]:
        return [*self._said(), *cutter.rest()]

    def _said(self) -> list[str]:
        dropped, self._dropped = self._dropped, 0
        return [DROPPED.format(count=dropped, kilobytes=KEPT_PER_SECOND // 1024)] if dropped else []


def in_brief(words: str) -> str:
    """Returns the beginning of a plugin's text for display.

    Characters that can't be printed are replaced, since a terminal could execute them.
    """
    return "".join(character if character.isprintable() else " " for character in words[:BRIEF_CHARACTERS])


def _text(line: bytes) -> str:
    return line[:LINE_BYTES].decode(errors="replace")[:LINE_CHARACTERS]
