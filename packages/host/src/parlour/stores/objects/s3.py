"""Stores objects in S3-compatible storage, which Hosts can share.

A local file collects the content until it is complete.
"""

import asyncio
import os
import re
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from xml.etree import ElementTree

from parlour.core.store.objects import CHUNK_BYTES, ObjectInfo, ObjectMissing, StoredObject

from .errors import translate_os_errors
from .s3_client import S3Client
from .spool import Spool

_DIGEST = re.compile(r"[0-9a-f]{64}")


class S3Objects:
    def __init__(self, client: S3Client, prefix: str, waiting: Path) -> None:
        self._client = client
        self._prefix = prefix
        with translate_os_errors():
            waiting.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._waiting = os.open(waiting, os.O_RDONLY | os.O_DIRECTORY)
            for name in os.listdir(self._waiting):  # what a killed process was writing
                os.unlink(name, dir_fd=self._waiting)

    def close(self) -> None:
        os.close(self._waiting)

    async def open_writer(self) -> "S3ObjectWriter":
        with translate_os_errors():
            return S3ObjectWriter(self.upload, Spool(self._waiting, uuid.uuid4().hex))

    async def size(self, sha256: str) -> int | None:
        found = await self._stat(sha256)
        return None if found is None else found.size_bytes

    async def stream(self, sha256: str, offset: int, length: int) -> AsyncIterator[bytes]:
        headers = {"range": f"bytes={offset}-{offset + max(length, 1) - 1}"}
        async with self._client.request(
            "GET", self._name(sha256), headers=headers, accepted=(200, 206, 404, 416)
        ) as answer:
            if answer.status_code == 404:
                raise ObjectMissing(ObjectMissing.__doc__)
            if answer.status_code == 416 or not length:
                return
            async for piece in answer.aiter_raw(CHUNK_BYTES):
                yield piece

    async def delete(self, sha256: str, written_before: int) -> bool:
        found = await self._stat(sha256)
        if found is None or found.written_at >= written_before:
            return False
        async with self._client.request("DELETE", self._name(sha256), accepted=(200, 204)):
            return True

    async def all(self) -> AsyncIterator[StoredObject]:
        parameters = {"list-type": "2", "prefix": self._prefix}
        while True:
            async with self._client.request("GET", parameters=parameters) as answer:
                listing = ElementTree.fromstring(await answer.aread())
            for item in listing.iterfind("{*}Contents"):
                kept = _listed(item)
                if kept is not None:
                    yield kept
            following = listing.findtext("{*}NextContinuationToken")
            if not following:
                return
            parameters["continuation-token"] = following

    async def upload(self, spool: Spool) -> ObjectInfo:
        """Uploads the content even if the object exists, so that its age starts again."""
        stored = await asyncio.to_thread(spool.seal)
        headers = {"content-length": str(stored.size_bytes)}
        async with self._client.request(
            "PUT", self._name(stored.sha256), headers=headers, body=lambda: _pieces(spool), digest=stored.sha256
        ):
            return stored

    async def _stat(self, sha256: str) -> StoredObject | None:
        if not _DIGEST.fullmatch(sha256):
            return None
        async with self._client.request("HEAD", self._name(sha256), accepted=(200, 404)) as answer:
            if answer.status_code == 404:
                return None
            written = parsedate_to_datetime(answer.headers["last-modified"])
            return StoredObject(sha256, int(answer.headers["content-length"]), _milliseconds(written))

    def _name(self, sha256: str) -> str:
        if not _DIGEST.fullmatch(sha256):
            raise ObjectMissing(ObjectMissing.__doc__)
        return f"{self._prefix}{sha256[:2]}/{sha256}"


class S3ObjectWriter:
    """Writes one object."""

    def __init__(self, send: Callable[[Spool], Awaitable[ObjectInfo]], spool: Spool) -> None:
        self._send = send
        self._spool = spool

    async def write(self, block: bytes) -> None:
        with translate_os_errors():
            await asyncio.to_thread(self._spool.write, block)

    async def finish(self) -> ObjectInfo:
        try:
            with translate_os_errors():
                return await self._send(self._spool)
        finally:
            self.abort()

    def abort(self) -> None:
        with suppress(FileNotFoundError):
            self._spool.discard()


async def _pieces(spool: Spool) -> AsyncIterator[bytes]:
    offset = 0
    while piece := await asyncio.to_thread(os.pread, spool.file, CHUNK_BYTES, offset):
        offset += len(piece)
        yield piece


def _listed(item: ElementTree.Element) -> StoredObject | None:
    name = (item.findtext("{*}Key") or "").rpartition("/")[2]
    if not _DIGEST.fullmatch(name):
        return None
    written = datetime.fromisoformat(item.findtext("{*}LastModified") or "")
    return StoredObject(name, int(item.findtext("{*}Size") or 0), _milliseconds(written))


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
