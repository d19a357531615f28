"""Defines KnowledgeEngine, the component that stores knowledge bases in a system of its own."""

from abc import ABC, abstractmethod
from dataclasses import field
from typing import Any

from parlour_sdk.api import PluginAPI
from parlour_sdk.protocol.knowledge import IngestOutcome, KnowledgeChunk, KnowledgeFile

from ..values import dataclass


@dataclass(frozen=True, slots=True)
class KnowledgeContext:
    api: PluginAPI
    config: dict[str, Any] = field(default_factory=dict)
    """The configuration that the operator entered for this knowledge base."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings of this search, by the engine's `retrieval_schema`; empty in other calls."""


class KnowledgeEngine(ABC):
    """One instance serves all knowledge bases that use it; a plugin has at most one engine."""

    @abstractmethod
    async def ingest(self, kb_id: str, file: KnowledgeFile, ctx: KnowledgeContext) -> IngestOutcome | int:
        """Adds or replaces a file; returns the number of chunks, or an outcome that says why it failed."""

    @abstractmethod
    async def retrieve(
        self, kb_id: str, query: str, top_k: int, filters: dict[str, Any] | None, ctx: KnowledgeContext
    ) -> list[KnowledgeChunk]:
        """Returns at most `top_k` chunks, best first."""

    @abstractmethod
    async def delete(self, kb_id: str, file_id: str | None, ctx: KnowledgeContext) -> None:
        """Deletes a file, or the whole knowledge base if `file_id` is None."""
