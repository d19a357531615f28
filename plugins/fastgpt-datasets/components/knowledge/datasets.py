"""Searches datasets of FastGPT."""

from typing import Any

from parlour_sdk.connectors import DatasetEngine, DatasetRequest, passage
from parlour_sdk.protocol.knowledge import ChunkSource, KnowledgeChunk


class FastGptDatasets(DatasetEngine):
    service = "FastGPT"

    def request(self, query: str, top_k: int, config: dict[str, Any], settings: dict[str, Any]) -> DatasetRequest:
        body = {
            "datasetId": config["dataset_id"],
            "text": query,
            "limit": settings.get("limit", 5000),
            "similarity": settings.get("similarity", 0),
            "searchMode": settings.get("search_mode", "mixedRecall"),
            "usingReRank": settings.get("rerank", False),
        }
        return DatasetRequest("api/core/dataset/searchTest", body)

    def chunks(self, kb_id: str, answer: Any) -> list[KnowledgeChunk]:
        if answer["code"] != 200:
            raise self._failed(str(answer.get("message", "it gave no reason"))[:200])
        data = answer["data"]
        found = []
        for item in data["list"] if isinstance(data, dict) else data:
            content = "\n".join(filter(None, (item["q"], item.get("a"))))
            source = ChunkSource(file_name=item.get("sourceName") or "FastGPT", position=item.get("chunkIndex"))
            collection = item.get("collectionId")
            found.append(passage(kb_id, item["id"], content, _score(item.get("score")), source, document_id=collection))
        return found


def _score(score: Any) -> float:
    """Returns the best of the scores of a passage: newer versions list one for each kind of search."""
    if isinstance(score, list):
        return max((float(each["value"]) for each in score if each.get("type") != "rrf"), default=0.0)
    return float(score or 0.0)
