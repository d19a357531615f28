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
    def __init__(self, client: S3Client, prefix: str, spool_folder: Path) -> None:
        self._client = client
        self._prefix = prefix
        with translate_os_errors():
            spool_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._spool_descriptor = os.open(spool_folder, os.O_RDONLY | os.O_DIRECTORY)
            for name in os.listdir(self._spool_descriptor):  # what a killed process was writing
                os.unlink(name, dir_fd=self._spool_descriptor)

    def close(self) -> None:
        os.close(self._spool_descriptor)

    async def open_writer(self) -> "S3ObjectWriter":
        with translate_os_errors():
            return S3ObjectWriter(self.upload, Spool(self._spool_descriptor, uuid.uuid4().hex))

    async def size(self, sha256: str) -> int | None:
        stored = await self._stat(sha256)
        return None if stored is None else stored.size_bytes

    async def stream(self, sha256: str, offset: int, length: int) -> AsyncIterator[bytes]:
        headers = {"range": f"bytes={offset}-{offset + max(length, 1) - 1}"}
        async with self._client.request(
            "GET", self._name(sha256), headers=headers, accepted_statuses=(200, 206, 404, 416)
        ) as answer:
            if answer.status_code == 404:
                raise ObjectMissing(ObjectMissing.__doc__)
            if answer.status_code == 416 or not length:
                return
            async for piece in answer.aiter_raw(CHUNK_BYTES):
                yield piece

    async def delete(self, sha256: str, written_before: int) -> bool:
        stored = await self._stat(sha256)
        if stored is None or stored.written_at >= written_before:
            return False
        async with self._client.request("DELETE", self._name(sha256), accepted_statuses=(200, 204)):
            return True

    async def all(self) -> AsyncIterator[StoredObject]:
        parameters = {"list-type": "2", "prefix": self._prefix}
        while True:
            async with self._client.request("GET", parameters=parameters) as answer:
                listing = ElementTree.fromstring(await answer.aread())
            for item in listing.iterfind("{*}Contents"):
                stored = _parse_item(item)
                if stored is not None:
                    yield stored
            next_token = listing.findtext("{*}NextContinuationToken")
            if not next_token:
                return
            parameters["continuation-token"] = next_token

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
        async with self._client.request("HEAD", self._name(sha256), accepted_statuses=(200, 404)) as answer:
            if answer.status_code == 404:
                return None
            modified = parsedate_to_datetime(answer.headers["last-modified"])
            return StoredObject(sha256, int(answer.headers["content-length"]), _milliseconds(modified))

    def _name(self, sha256: str) -> str:
        if not _DIGEST.fullmatch(sha256):
            raise ObjectMissing(ObjectMissing.__doc__)
        return f"{self._prefix}{sha256[:2]}/{sha256}"


class S3ObjectWriter:
    """Writes one object to a temporary file, which is uploaded when it is complete."""

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


def _parse_item(item: ElementTree.Element) -> StoredObject | None:
    name = (item.findtext("{*}Key") or "").rpartition("/")[2]
    if not _DIGEST.fullmatch(name):
        return None
    modified = datetime.fromisoformat(item.findtext("{*}LastModified") or "")
    return StoredObject(name, int(item.findtext("{*}Size") or 0), _milliseconds(modified))


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
