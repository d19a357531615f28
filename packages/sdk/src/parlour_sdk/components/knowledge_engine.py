"""A KnowledgeEngine keeps knowledge bases in a system of its own."""

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
    """What the operator filled in for this base."""


class KnowledgeEngine(ABC):
    """One instance serves all bases that were made with it; a plugin has at most one engine."""

    @abstractmethod
    async def ingest(self, kb_id: str, file: KnowledgeFile, ctx: KnowledgeContext) -> IngestOutcome | int:
        """Takes up a file, or replaces it; answers with the number of chunks, or an outcome that says why not."""

    @abstractmethod
    async def retrieve(
        self, kb_id: str, query: str, top_k: int, filters: dict[str, Any] | None, ctx: KnowledgeContext
    ) -> list[KnowledgeChunk]:
        """At most `top_k` chunks, the best first."""

    @abstractmethod
    async def delete(self, kb_id: str, file_id: str | None, ctx: KnowledgeContext) -> None:
        """Forgets a file; without one the whole base."""
