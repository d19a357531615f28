"""Reads and writes the rows of knowledge bases, files and passages."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from parlour.core.encoding import dumps, loads
from parlour.core.journal import (
    ANY,
    Delete,
    Increment,
    Insert,
    Journal,
    Row,
    Select,
    Statement,
    Unit,
    Update,
    one_of,
    where,
)
from parlour.core.model.ids import ChunkId, KnowledgeBaseId, KnowledgeFileId
from parlour.core.model.knowledge import BaseFile, KnowledgeBase, Passage
from parlour.core.store.retention_queries import KNOWLEDGE_SOURCE
from parlour.core.store.tables import ARTIFACTS, KNOWLEDGE_BASES, KNOWLEDGE_CHUNKS, KNOWLEDGE_FILES

from .search_words import passage_words, with_mark

DELETED_AT_ONCE = 200
"""Passages that one unit deletes."""
FOUND_COLUMNS = (
    "chunk_id",
    "kb_id",
    "file_id",
    "text",
    "heading",
    "generation",
    "position",
    "page",
    "enabled",
    "words",
)
"""Columns of a passage that a search needs."""


class KnowledgeRecords:
    """Reads the rows of knowledge bases."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def base_row(self, kb_id: KnowledgeBaseId) -> Row | None:
        rows = await self._journal.read(Select(KNOWLEDGE_BASES, where(kb_id=kb_id), limit=1, point_read=True))
        return rows[0] if rows else None

    async def base_rows(self) -> list[Row]:
        return await self._journal.read(Select(KNOWLEDGE_BASES, order=("kb_id",)))

    async def file(self, file_id: KnowledgeFileId) -> BaseFile | None:
        rows = await self._journal.read(Select(KNOWLEDGE_FILES, where(file_id=file_id), limit=1, point_read=True))
        return restore_file(rows[0]) if rows else None

    async def files(self, file_ids: Iterable[str]) -> dict[str, BaseFile]:
        """Returns files by their ids."""
        wanted = sorted(set(file_ids))
        if not wanted:
            return {}
        rows = await self._journal.read(Select(KNOWLEDGE_FILES, where(file_id=one_of(*wanted))))
        return {row["file_id"]: restore_file(row) for row in rows}

    async def files_of(self, kb_id: KnowledgeBaseId) -> list[BaseFile]:
        rows = await self._journal.read(Select(KNOWLEDGE_FILES, where(kb_id=kb_id), order=("file_id",)))
        return [restore_file(row) for row in rows]

    async def files_named(self, kb_id: KnowledgeBaseId, name: str) -> list[BaseFile]:
        rows = await self._journal.read(Select(KNOWLEDGE_FILES, where(kb_id=kb_id, name=name), order=("file_id",)))
        return [restore_file(row) for row in rows]

    async def chunk(self, chunk_id: ChunkId) -> Row | None:
        rows = await self._journal.read(Select(KNOWLEDGE_CHUNKS, where(chunk_id=chunk_id), limit=1, point_read=True))
        return rows[0] if rows else None

    async def chunks(self, chunk_ids: Iterable[str]) -> list[Row]:
        """Returns what a search needs of these passages."""
        wanted = sorted(set(chunk_ids))
        if not wanted:
            return []
        conditions = where(chunk_id=one_of(*wanted))
        return await self._journal.read(Select(KNOWLEDGE_CHUNKS, conditions, FOUND_COLUMNS))

    async def delete_chunks(self, **conditions: Any) -> None:
        """Deletes passages in small units, since each costs an update of the full-text index."""
        query = Select(KNOWLEDGE_CHUNKS, where(**conditions), ("chunk_id",), limit=DELETED_AT_ONCE)
        while rows := await self._journal.read(query):
            ids = one_of(*(row["chunk_id"] for row in rows))
            await self._journal.commit(
                Unit("knowledge.clean", (Delete(KNOWLEDGE_CHUNKS, where(chunk_id=ids), expect=ANY),), can_batch=True)
            )

    async def neighbours(self, row: Row, reach: int) -> list[Row]:
        """Returns the passages of the same file around one, in order, with itself."""
        positions = one_of(*range(row["position"] - reach, row["position"] + reach + 1))
        conditions = where(file_id=row["file_id"], generation=row["generation"], position=positions, enabled=1)
        return await self._journal.read(Select(KNOWLEDGE_CHUNKS, conditions, FOUND_COLUMNS, order=("position",)))


def restore_file(row: Row) -> BaseFile:
    """Returns the file of a row."""
    values = {**row, "metadata": loads(row["metadata"]), "options": loads(row["options"])}
    return BaseFile(**values)


def insert_base(base: KnowledgeBase, now: int) -> Insert:
    values = {"kb_id": base.kb_id, "name": base.name, "definition": base.encode(), "state": ""}
    counts = dict.fromkeys(("dimension", "files", "chunks", "bytes"), 0)
    return Insert(
        KNOWLEDGE_BASES, {**values, "generation": base.generation, **counts, "created_at": now, "updated_at": now}
    )


def update_base(base: KnowledgeBase, now: int) -> Update:
    values: dict[str, Any] = {"name": base.name, "definition": base.encode(), "updated_at": now}
    return Update(KNOWLEDGE_BASES, values, where(kb_id=base.kb_id))


def delete_base(kb_id: KnowledgeBaseId) -> list[Statement]:
    """Deletes a base with its files; a job deletes the passages, which can't be found without them."""
    mine = where(kb_id=kb_id)
    contents = Delete(ARTIFACTS, where(binding_id=kb_id, source=KNOWLEDGE_SOURCE), expect=ANY)
    return [Delete(KNOWLEDGE_BASES, mine), Delete(KNOWLEDGE_FILES, mine, expect=ANY), contents]


def count_change(kb_id: KnowledgeBaseId, files: int = 0, chunks: int = 0, size: int = 0) -> Update:
    """Changes what a base counts."""
    changes = {"files": Increment(files), "chunks": Increment(chunks), "bytes": Increment(size)}
    return Update(KNOWLEDGE_BASES, changes, where(kb_id=kb_id))


def insert_file(file: BaseFile, now: int) -> Insert:
    values: dict[str, Any] = {name: getattr(file, name) for name in KNOWLEDGE_FILES.column_names}
    values |= {"metadata": dumps(dict(file.metadata)), "options": dumps(dict(file.options)), "updated_at": now}
    return Insert(KNOWLEDGE_FILES, values)


def update_file(file: BaseFile, now: int, **values: str | int) -> Update:
    """Changes a file, if its passages are still those that the caller knows."""
    unchanged = where(file_id=file.file_id, generation=file.generation)
    return Update(KNOWLEDGE_FILES, {**values, "updated_at": now}, unchanged)


def delete_file(file: BaseFile) -> list[Statement]:
    """Deletes a file and its content; a job deletes its passages, which can't be found without it."""
    counted = bool(file.generation)
    return [
        Delete(KNOWLEDGE_FILES, where(file_id=file.file_id, generation=file.generation, chunks=file.chunks)),
        *forget_content(file),
        count_change(file.kb_id, -int(counted), -file.chunks, -file.size_bytes if counted else 0),
    ]


def forget_content(file: BaseFile) -> list[Statement]:
    """Deletes the artifact of a file's content."""
    if not file.artifact_id:
        return []
    return [Delete(ARTIFACTS, where(artifact_id=file.artifact_id, source=KNOWLEDGE_SOURCE), expect=ANY)]


def keep_content(before: BaseFile, after: BaseFile) -> list[Statement]:
    """Keeps the artifact of a file's new content, which would expire, and deletes that of the content before."""
    if after.artifact_id == before.artifact_id:
        return []
    kept = Update(ARTIFACTS, {"expires_at": 0}, where(artifact_id=after.artifact_id))
    return [kept, *forget_content(before)]


def chunk_id(file_id: KnowledgeFileId, generation: int, position: int) -> ChunkId:
    """Returns the id of a passage. A repeated attempt gives the same ids; sorted by id, passages are in no order."""
    name = f"{file_id}:{generation}:{position}"
    return ChunkId(hashlib.blake2b(name.encode(), digest_size=16).hexdigest())


def insert_chunk(file: BaseFile, generation: int, passage: Passage, now: int, origin: str = "") -> Insert:
    return Insert(
        KNOWLEDGE_CHUNKS,
        {
            "chunk_id": chunk_id(file.file_id, generation, passage.position),
            "kb_id": file.kb_id,
            "file_id": file.file_id,
            "text": passage.text,
            "heading": passage.heading,
            "hints": passage.hints,
            "words": stored_words(file.kb_id, passage.searchable),
            "origin": origin,
            "generation": generation,
            "position": passage.position,
            "page": passage.page,
            "char_start": passage.char_start,
            "char_end": passage.char_end,
            "tokens": passage.tokens,
            "enabled": 1,
            "updated_at": now,
        },
    )


def stored_words(kb_id: KnowledgeBaseId, text: str) -> str:
    """Returns the search words of a passage as they are stored."""
    return " ".join(with_mark(kb_id, passage_words(text)))


def split_words(kb_id: KnowledgeBaseId, stored: str) -> set[str]:
    """Returns the search words of a stored passage."""
    mark = len(with_mark(kb_id, [""])[0])
    return {word[mark:] for word in stored.split(" ")}


def passage_of(row: Row) -> Passage:
    """Returns the passage of a row with all columns."""
    return Passage(
        row["text"],
        row["heading"],
        row["position"],
        row["page"],
        row["char_start"],
        row["char_end"],
        row["tokens"],
        row["hints"],
    )


def in_batches(items: Sequence[Any], size: int) -> Iterable[Sequence[Any]]:
    return (items[start : start + size] for start in range(0, len(items), size))
