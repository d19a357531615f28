"""Uploads of artifacts: limited in size, counted against the quota, with the first bytes kept to detect the type."""

import asyncio

from parlour.core.journal import Journal, Row, Select, above, where
from parlour.core.model.providers import ProviderFailed

from .media_types import HEAD_BYTES
from .objects import ObjectInfo, ObjectWriter
from .tables import ARTIFACTS

MEBIBYTE = 1024 * 1024
COUNT_BATCH_ROWS = 5000
"""Rows that are read by one query when the quota is counted."""


class Quota:
    """Limit on the bytes of all artifacts together; content of several artifacts counts for each of them.

    The use is counted once and then kept up to date.
    """

    def __init__(self, limit: int, journal: Journal) -> None:
        self._limit = limit
        self._journal = journal
        self._used_bytes: int | None = None
        self._count_lock = asyncio.Lock()

    async def ensure_counted(self) -> None:
        """Counts the use if that was not done yet."""
        async with self._count_lock:
            if self._used_bytes is None:
                await self.recount()

    async def recount(self) -> None:
        """Counts the use again, so that rows deleted elsewhere are no longer included."""
        used_bytes, last = 0, ""
        while rows := await self._page(last):
            used_bytes += sum(int(row["size_bytes"]) for row in rows)
            last = rows[-1]["artifact_id"]
        self._used_bytes = used_bytes

    def reserve(self, count: int) -> None:
        if (self._used_bytes or 0) + count > self._limit:
            limit = f"this Host keeps at most {self._limit // MEBIBYTE} MiB of files"
            raise ProviderFailed(
                "payload_too_large", f"{limit}; delete some, or let its operator raise artifacts.quota_bytes"
            )
        self._used_bytes = (self._used_bytes or 0) + count

    def release(self, count: int) -> None:
        self._used_bytes = max((self._used_bytes or 0) - count, 0)

    async def _page(self, last: str) -> list[Row]:
        query = Select(
            ARTIFACTS,
            where(artifact_id=above(last)),
            ("artifact_id", "size_bytes"),
            order=("artifact_id",),
            limit=COUNT_BATCH_ROWS,
        )
        return await self._journal.read(query)


class ArtifactWriter:
    """An upload in progress. Each block is counted against the file limit and the quota.

    An upload that fails gives its part of the quota back.
    """

    def __init__(self, writer: ObjectWriter, quota: Quota, limit: int) -> None:
        self._writer = writer
        self._quota = quota
        self._limit = limit
        self._size = 0
        self.head = b""

    async def write(self, block: bytes) -> None:
        """Appends a block. Raises ProviderFailed if the file is too large or StorageFailed, and then discards it."""
        try:
            if self._size + len(block) > self._limit:
                raise ProviderFailed("payload_too_large", f"a file has at most {self._limit // MEBIBYTE} MiB")
            self._quota.reserve(len(block))
            self._size += len(block)
            self.head += block[: HEAD_BYTES - len(self.head)]
            await self._writer.write(block)
        except BaseException:
            self.abort()
            raise

    async def finish(self) -> ObjectInfo:
        try:
            return await self._writer.finish()
        except BaseException:
            self.abort()
            raise

    def abort(self) -> None:
        self._writer.abort()
        self._quota.release(self._size)
        self._size = 0
