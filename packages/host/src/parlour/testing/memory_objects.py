"""Keeps objects in memory, under the contract of `parlour.core.store.objects`, for tests that look at them."""

import hashlib
from collections.abc import AsyncIterator, Callable

from parlour.core.store.objects import CHUNK_BYTES, ObjectInfo, ObjectMissing, StoredObject


class MemoryObjects:
    """Creates an empty store. `now` is the clock by which objects age; without one they are always old."""

    def __init__(self, now: Callable[[], int] = lambda: 0) -> None:
        self._now = now
        self.content: dict[str, bytes] = {}
        self.written_at: dict[str, int] = {}

    async def open_writer(self) -> "MemoryWriting":
        return MemoryWriting(self._put)

    async def size(self, sha256: str) -> int | None:
        return len(self.content[sha256]) if sha256 in self.content else None

    async def stream(self, sha256: str, offset: int, length: int) -> AsyncIterator[bytes]:
        if sha256 not in self.content:
            raise ObjectMissing(ObjectMissing.__doc__)
        content = self.content[sha256][offset : offset + length]
        for start in range(0, len(content), CHUNK_BYTES):
            yield content[start : start + CHUNK_BYTES]

    async def delete(self, sha256: str, written_before: int) -> bool:
        if sha256 not in self.content or self.written_at[sha256] >= written_before:
            return False
        del self.content[sha256], self.written_at[sha256]
        return True

    async def all(self) -> AsyncIterator[StoredObject]:
        for sha256, content in sorted(self.content.items()):
            yield StoredObject(sha256, len(content), self.written_at[sha256])

    def _put(self, content: bytes) -> ObjectInfo:
        sha256 = hashlib.sha256(content).hexdigest()
        self.content[sha256] = content
        self.written_at[sha256] = self._now()
        return ObjectInfo(sha256, len(content))


class MemoryWriting:
    def __init__(self, store: Callable[[bytes], ObjectInfo]) -> None:
        self._put = store
        self._content = bytearray()

    async def write(self, block: bytes) -> None:
        self._content += block

    async def finish(self) -> ObjectInfo:
        return self._put(bytes(self._content))

    def abort(self) -> None:
        self._content.clear()
