"""What a plugin wrote: its last lines to be looked at, all of it to be kept, at a rate that harms nobody."""

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
"""Of short lines, this takes a few milliseconds, in which nothing else is done."""
KEPT_PER_SECOND = 256 * 1024
KEPT_AT_ONCE = 1024 * 1024
LINE_COST = 64
"""Counts for each line besides its characters, since even an empty one has a price."""
READ_PER_SECOND = 16 * 1024 * 1024
"""A plugin that writes faster waits. It must not wait long: who writes much at once would seem to hang."""
OTHERS_SHARE = 4
"""For each moment that a plugin's words take, the rest of the Host has so many."""
DROPPED = "({count} lines were dropped: a plugin's log may grow by {kilobytes} KiB a second)"


class LogBuffer:
    def __init__(self, file: LogFile | None = None) -> None:
        self._file = file
        self._lines: deque[str] = deque(maxlen=LINES)
        self.count = 0
        """Of all lines so far."""

    def lines(self) -> list[str]:
        return list(self._lines)

    def last_line(self, after: int) -> str:
        """The last one that says something, of those that came after so many; empty when there is none."""
        recent = islice(reversed(self._lines), self.count - after)
        return next((line for line in recent if line.strip()), "")

    def add(self, lines: Sequence[str]) -> None:
        """Secrets are taken out; a block at once costs less than its lines."""
        lines = REDACTOR.clean("\n".join(lines)).split("\n") if lines else ()
        self._lines.extend(lines)
        self.count += len(lines)
        if self._file is not None and lines:
            self._file.write(lines)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    async def follow(self, stream: asyncio.StreamReader) -> None:
        """Until the stream ends."""
        loop = asyncio.get_running_loop()
        cutter, allowance = _Cutter(), _Allowance(loop.time())
        while block := await stream.read(BLOCK_BYTES):
            begun = time.monotonic()
            self.add(allowance.pass_on(block, cutter, loop.time()))
            taken = time.monotonic() - begun
            await asyncio.sleep(max(len(block) / READ_PER_SECOND, OTHERS_SHARE * taken))
        self.add(allowance.last(cutter))


class _Cutter:
    """Blocks in, lines out. Of a line without an end only the beginning is held."""

    def __init__(self) -> None:
        self._begun = b""
        self._within_lost = False
        """The beginning of this line was not looked at, so its end means nothing."""
        self._skipped = b""
        """The end of what was not looked at: last words are worth more than others."""

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
        """How many lines ended in a block that nobody looks at."""
        ended = block.count(b"\n")
        if ended:
            self._begun = b""
        if not self._begun:
            self._within_lost = not block.endswith(b"\n")
        self._skipped = (self._skipped + block)[-LINE_BYTES:]
        return ended

    def rest(self) -> list[str]:
        """When nothing more comes."""
        last = self._begun or self._skipped.partition(b"\n")[2]
        return [_text(line) for line in last.split(b"\n") if line]


class _Allowance:
    """A bucket of characters that fills with time; what does not fit in is dropped, and how much is said later."""

    def __init__(self, now: float) -> None:
        self._room: float = KEPT_AT_ONCE
        self._filled_at = now
        self._dropped = 0

    def pass_on(self, block: bytes, cutter: _Cutter, now: float) -> list[str]:
        self._room = min(KEPT_AT_ONCE, self._room + (now - self._filled_at) * KEPT_PER_SECOND)
        self._filled_at = now
        if self._room < len(block):  # not even cut into lines: a flood must cost next to nothing
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
    """A plugin's own words as they are shown to people, also on terminals, which more than words could command."""
    return "".join(character if character.isprintable() else " " for character in words[:BRIEF_CHARACTERS])


def _text(line: bytes) -> str:
    return line[:LINE_BYTES].decode(errors="replace")[:LINE_CHARACTERS]
