"""Searches knowledge bases of Dify."""

from typing import Any
from urllib.parse import quote

from parlour_sdk.connectors import DatasetEngine, DatasetRequest, passage
from parlour_sdk.protocol.knowledge import ChunkSource, KnowledgeChunk


class DifyDatasets(DatasetEngine):
    service = "Dify"

    def request(self, query: str, top_k: int, config: dict[str, Any], settings: dict[str, Any]) -> DatasetRequest:
        threshold = settings.get("score_threshold", 0)
        model = {
            "search_method": settings.get("search_method", "hybrid_search"),
            "reranking_enable": False,
            "top_k": top_k,
            "score_threshold_enabled": threshold > 0,
            "score_threshold": threshold,
        }
        body = {"query": query[:250], "retrieval_model": model}
        return DatasetRequest(f"datasets/{quote(config['dataset_id'], safe='')}/retrieve", body)

    def chunks(self, kb_id: str, answer: Any) -> list[KnowledgeChunk]:
        found = []
        for record in answer["records"]:
            segment = record["segment"]
            document = segment.get("document") or {}
            content = "\n".join(filter(None, (segment["content"], segment.get("answer"))))
            source = ChunkSource(file_name=document.get("name") or "Dify", position=segment.get("position"))
            score = record.get("score") or 0.0
            found.append(passage(kb_id, segment["id"], content, score, source, document_id=document.get("id")))
        return found
