"""Splits a byte stream into lines of limited size. Pure; the transport reads the bytes."""

from collections import deque

from parlour_sdk.wire.errors import FrameTooLarge


class LineSplitter:
    """Collects chunks into complete lines. Buffers one unfinished line of at most `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0
        self.complete: deque[bytes] = deque()

    def feed(self, chunk: bytes) -> None:
        """Adds a chunk. Raises `FrameTooLarge` at a line over the limit; the lines before it stay in `complete`."""
        *lines, unfinished = chunk.split(b"\n")
        for line in lines:
            if self._pieces:
                self._add(line)
                line = b"".join(self._pieces)
                self._pieces.clear()
                self._size = 0
            elif len(line) > self._limit:
                raise FrameTooLarge(self._limit)
            self.complete.append(line)
        if unfinished:
            self._add(unfinished)

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            self._pieces.clear()
            raise FrameTooLarge(self._limit)
        self._pieces.append(piece)
