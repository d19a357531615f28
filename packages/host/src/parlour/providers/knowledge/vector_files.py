"""Stores vectors in one file per collection and searches all of them exactly.

A file has a header and equal records of vector, id and document, so that one rename replaces it. It is mapped on first
use; the memory is the page cache. A deleted record has no id; when a fifth is deleted, the file is written again.

Similarities are measured from the mean of all vectors of a collection: the vectors of texts in one language all point
in a similar direction, which says nothing about their content.
"""

import asyncio
import os
import shutil
import threading
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from parlour.core.knowledge.fusion import Background
from parlour.core.knowledge.ports import KnowledgeFailed, VectorHits, Vectors
from parlour.core.knowledge.reference_texts import REFERENCE_PREFIX

MAGIC = b"PRLRVEC1"
HEADER_BYTES = 64
ID_BYTES = 48
DOCUMENT_BYTES = 64
HOLES = 0.2
"""Part of deleted records after which a file is written again."""
MIN_HOLES = 256
"""Deleted records that are never worth it."""
IDLE_SECONDS = 600.0
"""Seconds after which a file that is not used is unmapped."""
RECENTRE_GROWTH = 1.1
"""Growth after which the mean is computed again."""
ALWAYS_RECENTRED = 5000
"""Vectors up to which it is computed again after every change."""

Result = TypeVar("Result")


class _VectorFile:
    """One mapped file. Its methods are called from threads, under its lock."""

    def __init__(self, path: Path, dimension: int = 0) -> None:
        self.path = path
        self.lock = threading.Lock()
        self.used_at = time.monotonic()
        if not path.exists():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            header = MAGIC + dimension.to_bytes(4, "little")
            path.write_bytes(header.ljust(HEADER_BYTES, b"\0"))
            path.chmod(0o600)
        with path.open("rb") as file:
            header = file.read(HEADER_BYTES)
        if header[:8] != MAGIC or len(header) < HEADER_BYTES:
            raise KnowledgeFailed("vectors_damaged", f"'{path.name}' is no file of vectors; embed the base again")
        self.dimension = int.from_bytes(header[8:12], "little")
        self._record = np.dtype(
            [("vector", "<f4", (self.dimension,)), ("id", f"S{ID_BYTES}"), ("document", f"S{DOCUMENT_BYTES}")]
        )
        self._file = path.open("r+b", buffering=0)
        self._drop_torn_record()
        self._map()

    def _drop_torn_record(self) -> None:
        size = os.fstat(self._file.fileno()).st_size - HEADER_BYTES
        os.truncate(self._file.fileno(), HEADER_BYTES + size - size % self._record.itemsize)

    def _map(self) -> None:
        """Maps all records, and computes what a search needs of them."""
        count = (os.fstat(self._file.fileno()).st_size - HEADER_BYTES) // self._record.itemsize
        shape = (count,)
        self._rows: Any = (
            np.memmap(self.path, self._record, "r", HEADER_BYTES, shape) if count else np.empty(0, self._record)
        )
        self._codes: dict[bytes, int] = {}
        names, inverse = np.unique(self._rows["document"], return_inverse=True)
        self._codes = {bytes(name): code for code, name in enumerate(names)}
        self._document = inverse.astype(np.int32).reshape(-1)
        self._alive = self._rows["id"] != b""
        self._mean: Any = np.zeros(self.dimension, np.float32)
        self._lengths: Any = np.empty(0, np.float32)
        self._centred_at = 0
        self._recentre()

    def _extend(self) -> None:
        """Maps records that were added since."""
        known = len(self._rows)
        count = (os.fstat(self._file.fileno()).st_size - HEADER_BYTES) // self._record.itemsize
        if count == known:
            return
        self._rows = np.memmap(self.path, self._record, "r", HEADER_BYTES, (count,))
        added = self._rows[known:]
        codes = [self._codes.setdefault(bytes(name), len(self._codes)) for name in added["document"]]
        self._document = np.concatenate([self._document, np.array(codes, np.int32)])
        self._alive = np.concatenate([self._alive, added["id"] != b""])
        self._recentre()

    def _recentre(self) -> None:
        """Computes the mean of all vectors, and the length of each vector from there."""
        count = len(self._rows)
        vectors = self._rows["vector"]
        if self._centred_at == 0 or count <= ALWAYS_RECENTRED or count > self._centred_at * RECENTRE_GROWTH:
            alive = vectors[self._alive] if count <= ALWAYS_RECENTRED else vectors
            if len(alive):
                self._mean = alive.mean(axis=0, dtype=np.float64).astype(np.float32)
            self._centred_at, start = count, 0
        else:
            start = len(self._lengths)
        if not count:
            self._lengths = np.empty(0, np.float32)
            return
        mean = self._mean
        # |v - m|² = 1 - 2 v·m + |m|², since vectors have length 1
        squares = 1.0 - 2.0 * (vectors[start:] @ mean) + float(mean @ mean)
        lengths = np.sqrt(np.maximum(squares, 1e-6)).astype(np.float32)
        self._lengths = lengths if start == 0 else np.concatenate([self._lengths, lengths])

    def add(self, document: str, ids: Sequence[str], vectors: Vectors) -> None:
        records = np.zeros(len(ids), self._record)
        records["vector"] = vectors
        records["id"] = [each.encode() for each in ids]
        records["document"] = document.encode()
        os.lseek(self._file.fileno(), 0, os.SEEK_END)
        self._file.write(records.tobytes())

    def flush(self) -> None:
        os.fsync(self._file.fileno())
        self._extend()

    def search(self, vector: Vectors, limit: int, documents: Collection[str] | None) -> VectorHits:
        if len(vector) != self.dimension:
            raise KnowledgeFailed(
                "embed.dimension", f"the base has vectors of {self.dimension} numbers, not {len(vector)}"
            )
        with self.lock:
            self._extend()
            rows, alive, lengths, document, mean = self._rows, self._alive, self._lengths, self._document, self._mean
            codes = None if documents is None else [self._codes.get(each.encode(), -1) for each in documents]
        if not len(rows) or not alive.any():
            return VectorHits([], Background(0.0, 0.0))
        query = np.asarray(vector, np.float32) - mean
        query /= max(float(np.linalg.norm(query)), 1e-6)
        similarities = (rows["vector"] @ query - float(np.dot(mean, query))) / lengths
        known = similarities[alive]
        background = Background(float(known.mean()), float(known.std()))
        wanted = alive if codes is None else alive & np.isin(document, codes)
        candidates = np.flatnonzero(wanted)
        if len(candidates) > limit:
            best = np.argpartition(similarities[candidates], -limit)[-limit:]
            candidates = candidates[best]
        candidates = candidates[np.argsort(-similarities[candidates], kind="stable")]
        found = [(rows["id"][row].decode(), float(similarities[row])) for row in candidates]
        return VectorHits([each for each in found if not each[0].startswith(REFERENCE_PREFIX)], background)

    def delete(self, chosen: Callable[[Any, Any], Any]) -> None:
        """Deletes the records for which `chosen` is true, given their ids and documents."""
        self._extend()
        mask = self._alive & chosen(self._rows["id"], self._document)
        offset = HEADER_BYTES + self.dimension * 4
        for row in np.flatnonzero(mask):
            os.pwrite(self._file.fileno(), bytes(ID_BYTES), offset + int(row) * self._record.itemsize)
        if not mask.any():
            return
        os.fsync(self._file.fileno())
        self._alive = self._alive & ~mask
        holes = len(self._alive) - int(self._alive.sum())
        if holes >= MIN_HOLES and holes > HOLES * len(self._alive):
            self._compact()

    def delete_document(self, document: str) -> None:
        self._extend()
        code = self._codes.get(document.encode(), -1)
        self.delete(lambda ids, documents: documents == code)

    def delete_ids(self, ids: Collection[str]) -> None:
        wanted = [each.encode() for each in ids]
        self.delete(lambda known, documents: np.isin(known, wanted))

    def count(self) -> int:
        self._extend()
        return int((self._alive & ~np.char.startswith(self._rows["id"], REFERENCE_PREFIX.encode())).sum())

    def _compact(self) -> None:
        replacement = self.path.with_suffix(".new")
        with replacement.open("wb") as file:
            file.write((MAGIC + self.dimension.to_bytes(4, "little")).ljust(HEADER_BYTES, b"\0"))
            for start in range(0, len(self._rows), 4096):
                rows = self._rows[start : start + 4096]
                file.write(rows[self._alive[start : start + 4096]].tobytes())
            file.flush()
            os.fsync(file.fileno())
        replacement.chmod(0o600)
        replacement.rename(self.path)
        self._file.close()
        self._file = self.path.open("r+b", buffering=0)
        self._map()

    def close(self) -> None:
        self._file.close()


class VectorFiles:
    """The builtin store of vectors: a folder with one file per collection."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, _VectorFile] = {}
        self._idle_timer: asyncio.TimerHandle | None = None

    async def create(self, collection: str, dimension: int) -> None:
        file = await self._call(collection, lambda file: file, dimension)
        if file is not None and file.dimension != dimension:
            message = f"the base has vectors of {file.dimension} numbers, and the model gives {dimension}"
            raise KnowledgeFailed("embed.dimension", f"{message}; embed the base again")

    async def add(self, collection: str, document: str, ids: Sequence[str], vectors: Vectors) -> None:
        await self._change(collection, lambda file: file.add(document, ids, vectors))

    async def flush(self, collection: str) -> None:
        await self._change(collection, _VectorFile.flush)

    async def search(
        self, collection: str, vector: Vectors, limit: int, documents: Collection[str] | None = None
    ) -> VectorHits:
        hits = await self._call(collection, lambda file: file.search(vector, limit, documents))
        return VectorHits([], Background(0.0, 0.0)) if hits is None else hits

    async def delete_document(self, collection: str, document: str) -> None:
        await self._change(collection, lambda file: file.delete_document(document))

    async def delete_ids(self, collection: str, ids: Collection[str]) -> None:
        await self._change(collection, lambda file: file.delete_ids(ids))

    async def drop(self, collection: str) -> None:
        file = self._files.pop(collection, None)
        if file is not None:
            file.close()
        await asyncio.to_thread(shutil.rmtree, self._path(collection).parent, ignore_errors=True)

    async def count(self, collection: str) -> int | None:
        return await self._call(collection, lambda file: file.count())

    async def close(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        for file in self._files.values():
            file.close()
        self._files.clear()

    async def _change(self, collection: str, change: Callable[[_VectorFile], None]) -> None:
        def work(file: _VectorFile) -> None:
            with file.lock:
                change(file)

        await self._call(collection, work)

    async def _call(self, collection: str, work: Callable[[_VectorFile], Result], dimension: int = 0) -> Result | None:
        """Works on a file in a thread. Returns None if there is no file and no dimension to create one with."""
        if dimension == 0 and collection not in self._files and not self._path(collection).exists():
            return None
        try:
            file = self._files.get(collection)
            if file is None:
                file = await asyncio.to_thread(_VectorFile, self._path(collection), dimension)
                file = self._files.setdefault(collection, file)
            file.used_at = time.monotonic()
            self._watch_idle()
            return await asyncio.to_thread(work, file)
        except OSError as error:
            message = f"the vectors can't be stored or read: {error.strerror or error}"
            raise KnowledgeFailed("storage_failed", message, retryable=True) from error

    def _watch_idle(self) -> None:
        if self._idle_timer is None:
            self._idle_timer = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._drop_idle)

    def _drop_idle(self) -> None:
        self._idle_timer = None
        for name, file in list(self._files.items()):
            if time.monotonic() - file.used_at >= IDLE_SECONDS and not file.lock.locked():
                del self._files[name]
        if self._files:
            self._watch_idle()

    def _path(self, collection: str) -> Path:
        return self._folder / collection / "vectors"
