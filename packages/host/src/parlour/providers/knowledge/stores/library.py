"""Runs the blocking client library of a vector store in threads of its own, with time limits and one kind of error."""

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from parlour.core.knowledge.ports import KnowledgeFailed, VectorHits, Vectors

logger = logging.getLogger(__name__)

CHANGE_SECONDS = 120.0
"""Seconds that one change of a store may take."""
READ_SECONDS = 10.0
"""Seconds that one search may take; a hybrid search then uses words only."""
IDS_AT_ONCE = 1000
"""Vectors that one call of a library adds or deletes."""

Result = TypeVar("Result")


class VectorLibrary(Protocol):
    """The blocking calls that a store consists of.

    A collection that does not exist counts as empty, but `add` needs one and `count` returns None.
    """

    failures: tuple[type[Exception], ...]
    """Errors by which the library says that it can't do something."""

    def create(self, collection: str, dimension: int) -> int:
        """Creates a collection if there is none, and returns the dimension that it has."""
        ...

    def add(self, collection: str, document: str, ids: Sequence[str], vectors: Vectors) -> None: ...

    def flush(self, collection: str) -> None: ...

    def search(
        self, collection: str, vector: Vectors, limit: int, documents: Collection[str] | None
    ) -> list[tuple[str, float]]:
        """Returns ids with their cosine similarity, best first."""
        ...

    def read(self, collection: str, document: str) -> list[Sequence[float]]:
        """Returns the vectors of a document."""
        ...

    def delete_document(self, collection: str, document: str) -> None: ...

    def delete_ids(self, collection: str, ids: Sequence[str]) -> None: ...

    def drop(self, collection: str) -> None: ...

    def count(self, collection: str) -> int | None: ...

    def close(self) -> None: ...


class LibraryStore:
    """A vector store that is used by a blocking library, which is opened by its first call."""

    def __init__(self, label: str, open_library: Callable[[], VectorLibrary], threads: int) -> None:
        self._label = label
        self._open_library = open_library
        self._library: VectorLibrary | None = None
        self._opening = asyncio.Lock()
        self._threads = ThreadPoolExecutor(threads, f"vectors-{label}")

    async def create(self, collection: str, dimension: int) -> None:
        there = await self._call(lambda library: library.create(collection, dimension))
        if there != dimension:
            message = f"the base has vectors of {there} numbers, and the model gives {dimension}"
            raise KnowledgeFailed("embed.dimension", f"{message}; embed the base again")

    async def add(self, collection: str, document: str, ids: Sequence[str], vectors: Vectors) -> None:
        for start in range(0, len(ids), IDS_AT_ONCE):
            some, rows = ids[start : start + IDS_AT_ONCE], vectors[start : start + IDS_AT_ONCE]
            await self._call(lambda library, some=some, rows=rows: library.add(collection, document, some, rows))  # type: ignore[misc]

    async def flush(self, collection: str) -> None:
        await self._call(lambda library: library.flush(collection))

    async def search(
        self, collection: str, vector: Vectors, limit: int, documents: Collection[str] | None = None
    ) -> VectorHits:
        return VectorHits(
            await self._call(lambda library: library.search(collection, vector, limit, documents), READ_SECONDS)
        )

    async def read(self, collection: str, document: str) -> list[Sequence[float]]:
        return await self._call(lambda library: library.read(collection, document), READ_SECONDS)

    async def delete_document(self, collection: str, document: str) -> None:
        await self._call(lambda library: library.delete_document(collection, document))

    async def delete_ids(self, collection: str, ids: Collection[str]) -> None:
        wanted = list(ids)
        for start in range(0, len(wanted), IDS_AT_ONCE):
            some = wanted[start : start + IDS_AT_ONCE]
            await self._call(lambda library, some=some: library.delete_ids(collection, some))  # type: ignore[misc]

    async def drop(self, collection: str) -> None:
        await self._call(lambda library: library.drop(collection))

    async def count(self, collection: str) -> int | None:
        return await self._call(lambda library: library.count(collection), READ_SECONDS)

    async def close(self) -> None:
        library, self._library = self._library, None
        if library is not None:
            await asyncio.get_running_loop().run_in_executor(self._threads, library.close)
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _call(self, work: Callable[[VectorLibrary], Result], seconds: float = CHANGE_SECONDS) -> Result:
        loop = asyncio.get_running_loop()
        failures: tuple[type[Exception], ...] = (OSError, ValueError)
        try:
            async with asyncio.timeout(seconds):
                async with self._opening:
                    if self._library is None:
                        self._library = await loop.run_in_executor(self._threads, self._open_library)
                library = self._library
                failures = library.failures
                return await loop.run_in_executor(self._threads, work, library)
        except TimeoutError:
            message = f"the vector store {self._label} did not answer within {seconds:.0f} seconds"
            raise KnowledgeFailed("store_unavailable", message, retryable=True) from None
        except KnowledgeFailed:
            raise
        except Exception as error:
            if self._library is not None and not isinstance(error, failures):
                raise
            reason = f"{type(error).__name__}: {str(error).strip()[:300]}"
            message = f"the vector store {self._label} failed: {reason}"
            raise KnowledgeFailed("store_unavailable", message, retryable=True) from error
