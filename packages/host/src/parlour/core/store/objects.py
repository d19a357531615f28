"""The port to where the bytes of artifacts live: content by its own sha256, the same content once. Knows no artifacts.

Implementations: memory (parlour.testing), a folder, and S3-compatible storage.
"""

from collections.abc import AsyncIterator
from typing import Protocol

from parlour.core.journal.errors import StorageFailed
from parlour_sdk.values import dataclass

PIECE_BYTES = 256 * 1024
"""What is held in memory of an object at a time."""


@dataclass(frozen=True, slots=True)
class Stored:
    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Kept:
    """An object of the store; `written_at` is when the same content was last put, in epoch milliseconds."""

    sha256: str
    size_bytes: int
    written_at: int


class ObjectMissing(Exception):
    """The store has no such object."""

    code = "object_missing"


class Writing(Protocol):
    """An object in the making: nobody sees it before it is finished."""

    async def write(self, block: bytes) -> None:
        """Raises StorageFailed."""
        ...

    async def finish(self) -> Stored:
        """Durable when it returns. Raises StorageFailed, and then there is nothing of it."""
        ...

    def abandon(self) -> None:
        """Leaves nothing behind. Does nothing once it was finished or abandoned."""
        ...


class ObjectStore(Protocol):
    async def begin(self) -> Writing: ...

    async def size(self, sha256: str) -> int | None:
        """How many bytes there are, None when the object is not there."""
        ...

    def stream(self, sha256: str, offset: int, length: int) -> AsyncIterator[bytes]:
        """Pieces of this range, as far as the object reaches. Raises ObjectMissing or StorageFailed."""
        ...

    async def delete(self, sha256: str, written_before: int) -> bool:
        """True when an object that was last put before this time is gone now; a newer one stays."""
        ...

    def all(self) -> AsyncIterator[Kept]: ...


class NoObjects:
    """What a Host without a place for artifacts has."""

    async def begin(self) -> Writing:
        raise StorageFailed("storage_failed", "this Host has no place to keep files")

    async def size(self, sha256: str) -> int | None:
        return None

    def stream(self, sha256: str, offset: int, length: int) -> AsyncIterator[bytes]:
        raise ObjectMissing(ObjectMissing.__doc__)

    async def delete(self, sha256: str, written_before: int) -> bool:
        return False

    async def all(self) -> AsyncIterator[Kept]:
        nothing: tuple[Kept, ...] = ()
        for each in nothing:
            yield each
