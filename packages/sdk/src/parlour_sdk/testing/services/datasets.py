"""Fakes of the datasets of Dify, RAGFlow and FastGPT, written from their documentation."""

from typing import Any

from .fake_service import FakeService, JsonReply, RecordedRequest, ServiceReply

API_KEY = "dataset-key"
DATASET = "d-1"


class FakeDatasets(FakeService):
    """One dataset with passages of one document, found if they contain a word of the query."""

    def __init__(self) -> None:
        super().__init__()
        self.passages: list[str] = []
        self.document = "manual.pdf"

    def found(self, query: str) -> list[tuple[int, str]]:
        words = set(query.lower().split())
        return [(place, text) for place, text in enumerate(self.passages) if words & set(text.lower().split())]

    def is_authorized(self, request: RecordedRequest) -> bool:
        return request.headers.get("authorization") == f"Bearer {API_KEY}"


class FakeDifyDatasets(FakeDatasets):
    """Dify's knowledge API."""

    async def handle(self, request: RecordedRequest) -> ServiceReply:
        if not self.is_authorized(request):
            return JsonReply({"code": "unauthorized", "message": "Access token is invalid", "status": 401}, 401)
        if (request.method, request.path) != ("POST", f"/datasets/{DATASET}/retrieve"):
            return JsonReply({"code": "not_found", "message": "Dataset not found.", "status": 404}, 404)
        query, model = request.json["query"], request.json["retrieval_model"]
        records = [
            {
                "segment": {
                    "id": f"s-{place}",
                    "position": place + 1,
                    "document_id": "doc-1",
                    "content": text,
                    "answer": None,
                    "document": {"id": "doc-1", "data_source_type": "upload_file", "name": self.document},
                },
                "child_chunks": [],
                "score": 0.9 - place / 10,
            }
            for place, text in self.found(query)[: model["top_k"]]
        ]
        return JsonReply({"query": {"content": query}, "records": records})


class FakeRagFlow(FakeDatasets):
    """RAGFlow's retrieval: errors have status 200 and a code."""

    async def handle(self, request: RecordedRequest) -> ServiceReply:
        if not self.is_authorized(request):
            return JsonReply({"code": 109, "message": "Authentication error: API key is invalid!", "data": False})
        if (request.method, request.path) != ("POST", "/api/v1/retrieval"):
            return JsonReply({"code": 404, "message": "Not Found"}, 404)
        body = request.json
        if body["dataset_ids"] != [DATASET]:
            return JsonReply({"code": 102, "message": f"You don't own the dataset {body['dataset_ids'][0]}."})
        chunks = [
            {
                "id": f"c-{place}",
                "content": text,
                "document_id": "doc-1",
                "document_keyword": self.document,
                "positions": [[place + 1, 10, 20, 30, 40]],
                "similarity": 0.9 - place / 10,
            }
            for place, text in self.found(body["question"])[: body["page_size"]]
        ]
        return JsonReply({"code": 0, "data": {"chunks": chunks, "doc_aggs": [], "total": len(chunks)}})


class FakeFastGpt(FakeDatasets):
    """FastGPT's search test, in the form before and since version 4.9."""

    lists_scores = True

    async def handle(self, request: RecordedRequest) -> ServiceReply:
        if not self.is_authorized(request):
            return JsonReply(
                {"code": 514, "statusText": "unAuthApiKey", "message": "Key is not valid", "data": None}, 401
            )
        if (request.method, request.path) != ("POST", "/api/core/dataset/searchTest"):
            return JsonReply({"code": 404, "message": "not found"}, 404)
        if request.json["datasetId"] != DATASET:
            return JsonReply({"code": 501, "statusText": "unExistDataset", "message": "no such dataset", "data": None})
        items = [self._item(place, text) for place, text in self.found(request.json["text"])]
        data: Any = {"list": items, "duration": "0.1s"} if self.lists_scores else items
        return JsonReply({"code": 200, "statusText": "", "message": "", "data": data})

    def _item(self, place: int, text: str) -> dict[str, Any]:
        score = 0.9 - place / 10
        scores = [{"type": "embedding", "value": score, "index": place}, {"type": "rrf", "value": 0.03, "index": place}]
        return {
            "id": f"d-{place}",
            "q": text,
            "a": "",
            "datasetId": DATASET,
            "collectionId": "doc-1",
            "sourceName": self.document,
            "chunkIndex": place,
            "score": scores if self.lists_scores else score,
        }
