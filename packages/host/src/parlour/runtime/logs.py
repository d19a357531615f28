"""The last lines a plugin wrote, kept to be looked at."""

import asyncio
import codecs
from collections import deque

LINES = 1000
LINE_CHARACTERS = 4000


class LogBuffer:
    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=LINES)

    def lines(self) -> list[str]:
        return list(self._lines)

    async def follow(self, stream: asyncio.StreamReader) -> None:
        """Until the stream ends. Reads in blocks, so that a line without an end can't fill memory."""
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")  # a block may end within a character
        rest = ""
        while block := await stream.read(64 * 1024):
            *lines, rest = (rest + decoder.decode(block)).split("\n")
            self._lines.extend(line[:LINE_CHARACTERS] for line in lines)
            rest = rest[-LINE_CHARACTERS:]
        if rest:
            self._lines.append(rest)
