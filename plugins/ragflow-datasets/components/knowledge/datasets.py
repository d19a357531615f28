"""Searches datasets of RAGFlow."""

from typing import Any

from parlour_sdk.connectors import DatasetEngine, DatasetRequest, passage
from parlour_sdk.protocol.knowledge import ChunkSource, KnowledgeChunk


class RagFlowDatasets(DatasetEngine):
    service = "RAGFlow"

    def request(self, query: str, top_k: int, config: dict[str, Any], settings: dict[str, Any]) -> DatasetRequest:
        body = {
            "question": query,
            "dataset_ids": [config["dataset_id"]],
            "page": 1,
            "page_size": top_k,
            "similarity_threshold": settings.get("similarity_threshold", 0.2),
            "vector_similarity_weight": settings.get("vector_similarity_weight", 0.3),
        }
        return DatasetRequest("api/v1/retrieval", body)

    def chunks(self, kb_id: str, answer: Any) -> list[KnowledgeChunk]:
        if answer["code"] != 0:
            raise self._failed(str(answer.get("message", "it gave no reason"))[:200])
        found = []
        for chunk in answer["data"]["chunks"]:
            name = chunk.get("document_keyword") or chunk.get("document_name") or "RAGFlow"
            source = ChunkSource(file_name=name, page=_page(chunk))
            score = chunk.get("similarity") or 0.0
            found.append(
                passage(kb_id, chunk["id"], chunk["content"], score, source, document_id=chunk.get("document_id"))
            )
        return found


def _page(chunk: dict[str, Any]) -> int | None:
    """Returns the page of a passage: its positions are lists that begin with the page."""
    match chunk.get("positions"):
        case [[int(page), *_], *_]:
            return page
        case _:
            return None
