"""Lists and searches the granted knowledge bases."""

from typing import Any

from parlour_sdk.protocol.knowledge import (
    KnowledgeChunk,
    KnowledgeList,
    KnowledgeResult,
    ListKnowledge,
    RetrieveKnowledge,
)
from parlour_sdk.protocol.resources import KnowledgeBaseResource

from .calls import Namespace


class KnowledgeAPI(Namespace):
    async def retrieve(
        self, kb_id: str, query: str, top_k: int = 5, filters: dict[str, Any] | None = None
    ) -> list[KnowledgeChunk]:
        answer = await self._calls.call(
            "retrieve_knowledge",
            RetrieveKnowledge,
            KnowledgeResult,
            kb_id=kb_id,
            query=query,
            top_k=top_k,
            filters=filters,
        )
        return answer.chunks

    async def list(self) -> list[KnowledgeBaseResource]:
        return (await self._calls.call("list_knowledge", ListKnowledge, KnowledgeList)).knowledge_bases
