"""Finds bases, files and passages for endpoints, and turns their errors into responses."""

from typing import Protocol

from parlour.core.journal import Row
from parlour.core.knowledge.ports import KnowledgeFailed
from parlour.core.knowledge.service import KnowledgeBaseService
from parlour.core.model.ids import ChunkId, KnowledgeBaseId, KnowledgeFileId
from parlour.core.model.knowledge import BaseFile, KnowledgeBase

from ..errors import Problem, not_found

_STATUS = {"invalid_argument": 422, "file.type": 415, "file.too_large": 413, "file.no_text": 422, "quota": 409}


class KnowledgeAccess:
    """Looks up what a path names."""

    def __init__(self, service: "ServiceSource") -> None:
        self._source = service

    @property
    def service(self) -> KnowledgeBaseService:
        return self._source.service

    def find(self, kb_id: KnowledgeBaseId) -> KnowledgeBase | None:
        return self.service.bases.get(kb_id) if self._source.is_used else None

    def all(self) -> list[KnowledgeBase]:
        return self.service.bases.all() if self._source.is_used else []

    def base(self, kb_id: KnowledgeBaseId) -> KnowledgeBase:
        base = self.find(kb_id)
        if base is None:
            raise not_found(f"knowledge base '{kb_id}'", "GET /api/v1/knowledge-bases lists them")
        return base

    async def file(self, kb_id: KnowledgeBaseId, file_id: KnowledgeFileId) -> tuple[KnowledgeBase, BaseFile]:
        base = self.base(kb_id)
        file = await self.service.records.file(file_id)
        if file is None or file.kb_id != base.kb_id:
            remedy = f"GET /api/v1/knowledge-bases/{kb_id}/files lists them"
            raise not_found(f"file '{file_id}'", remedy)
        return base, file

    async def chunk(self, kb_id: KnowledgeBaseId, file_id: KnowledgeFileId, chunk_id: ChunkId) -> Row:
        _, file = await self.file(kb_id, file_id)
        row = await self.service.records.chunk(chunk_id)
        if row is None or row["file_id"] != file.file_id or row["generation"] != file.generation:
            remedy = f"GET /api/v1/knowledge-bases/{kb_id}/files/{file_id}/chunks lists them"
            raise not_found(f"passage '{chunk_id}'", remedy)
        return row


class ServiceSource(Protocol):
    """The subsystem that builds the service when it is first used."""

    @property
    def is_used(self) -> bool: ...

    @property
    def service(self) -> KnowledgeBaseService: ...


def to_problem(failure: KnowledgeFailed) -> Problem:
    """Returns the response for a failure."""
    default = 503 if failure.retryable else 409
    return Problem(_STATUS.get(failure.code, default), failure.code, failure.message)
