"""Keeps objects in memory, under the contract of `parlour.core.store.objects`, for tests that look at them."""

import hashlib
from collections.abc import AsyncIterator, Callable

from parlour.core.store.objects import PIECE_BYTES, Kept, ObjectMissing, Stored


class MemoryObjects:
    """`now` is the clock by which objects grow old; without one they have always been old."""

    def __init__(self, now: Callable[[], int] = lambda: 0) -> None:
        self._now = now
        self.content: dict[str, bytes] = {}
        self.written_at: dict[str, int] = {}

    async def begin(self) -> "MemoryWriting":
        return MemoryWriting(self._put)

    async def size(self, sha256: str) -> int | None:
        return len(self.content[sha256]) if sha256 in self.content else None

    async def stream(self, sha256: str, offset: int, length: int) -> AsyncIterator[bytes]:
        if sha256 not in self.content:
            raise ObjectMissing(ObjectMissing.__doc__)
        wanted = self.content[sha256][offset : offset + length]
        for start in range(0, len(wanted), PIECE_BYTES):
            yield wanted[start : start + PIECE_BYTES]

    async def delete(self, sha256: str, written_before: int) -> bool:
        if sha256 not in self.content or self.written_at[sha256] >= written_before:
            return False
        del self.content[sha256], self.written_at[sha256]
        return True

    async def all(self) -> AsyncIterator[Kept]:
        for sha256, content in sorted(self.content.items()):
            yield Kept(sha256, len(content), self.written_at[sha256])

    def _put(self, content: bytes) -> Stored:
        sha256 = hashlib.sha256(content).hexdigest()
        self.content[sha256] = content
        self.written_at[sha256] = self._now()
        return Stored(sha256, len(content))


class MemoryWriting:
    def __init__(self, put: Callable[[bytes], Stored]) -> None:
        self._put = put
        self._content = bytearray()

    async def write(self, block: bytes) -> None:
        self._content += block

    async def finish(self) -> Stored:
        return self._put(bytes(self._content))

    def abandon(self) -> None:
        self._content.clear()
