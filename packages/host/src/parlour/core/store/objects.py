"""The port to the object store, which stores content by its sha256, equal content once. It does not know artifacts.

Implementations: memory (parlour.testing), a folder, and S3-compatible storage.
"""

from collections.abc import AsyncIterator
from typing import Protocol

from parlour.core.journal.errors import StorageFailed
from parlour_sdk.values import dataclass

CHUNK_BYTES = 256 * 1024
"""Bytes of an object that are held in memory at a time."""


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """Digest and size of an object."""

    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object in the store; `written_at` is when the same content was last written, in epoch milliseconds."""

    sha256: str
    size_bytes: int
    written_at: int


class ObjectMissing(Exception):
    """The store has no such object."""

    code = "object_missing"


class ObjectWriter(Protocol):
    """Writes one object, which becomes visible when it is finished."""

    async def write(self, block: bytes) -> None:
        """Appends a block. Raises StorageFailed."""
        ...

    async def finish(self) -> ObjectInfo:
        """Completes the object; it is durable when this returns. Raises StorageFailed, and then nothing was stored."""
        ...

    def abort(self) -> None:
        """Discards what was written. Does nothing if the object was already finished or discarded."""
        ...


class ObjectStore(Protocol):
    """Stores content by its digest."""

    async def open_writer(self) -> ObjectWriter: ...

    async def size(self, sha256: str) -> int | None:
        """Returns the size in bytes, or None if there is no such object."""
        ...

    def stream(self, sha256: str, offset: int, length: int) -> AsyncIterator[bytes]:
        """Yields chunks of a range, up to the end of the object. Raises ObjectMissing or StorageFailed."""
        ...

    async def delete(self, sha256: str, written_before: int) -> bool:
        """Deletes an object if it was last written before this time; returns whether it was deleted."""
        ...

    def all(self) -> AsyncIterator[StoredObject]: ...


class NullObjectStore:
    """Object store of a Host without storage for artifacts."""

    async def open_writer(self) -> ObjectWriter:
        raise StorageFailed("storage_failed", "this Host has no place to keep files")

    async def size(self, sha256: str) -> int | None:
        return None

    def stream(self, sha256: str, offset: int, length: int) -> AsyncIterator[bytes]:
        raise ObjectMissing(ObjectMissing.__doc__)

    async def delete(self, sha256: str, written_before: int) -> bool:
        return False

    async def all(self) -> AsyncIterator[StoredObject]:
        nothing: tuple[StoredObject, ...] = ()
        for each in nothing:
            yield each
