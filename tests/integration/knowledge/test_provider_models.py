"""Tests embeddings and reranking by a provider's models: batches, retries, refusals, budgets, and a change of model."""

import asyncio
import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from parlour_sdk.testing.services.fake_service import FakeService, JsonReply, RecordedRequest, ServiceReply
from tests.support.harness import Host, error_code, eventually

from .test_bases import finished, new_base, search, upload

LONG = "\n\n".join(f"Paragraph {number} about the tide at pier {number}. " * 30 for number in range(160))
DIMENSION = 8


class FakeVectors(FakeService):
    """A service with the format of OpenAI that embeds and reranks."""

    def __init__(self) -> None:
        super().__init__()
        self.refusals: list[JsonReply] = []
        """What the next requests get instead of an answer."""
        self.dimension = DIMENSION
        self.rerank_order: list[int] | None = None
        """Positions of documents, best first; None: reranking fails."""
        self.gate = threading.Event()
        """Embedding waits while it is not set."""
        self.gate.set()

    async def handle(self, request: RecordedRequest) -> ServiceReply:
        if self.refusals:
            return self.refusals.pop(0)
        body = request.json
        if request.path.endswith("/rerank"):
            if self.rerank_order is None:
                return JsonReply({"error": {"message": "no capacity"}}, 400)
            results = [
                {"index": index, "relevance_score": 1 - rank / 10} for rank, index in enumerate(self.rerank_order)
            ]
            return JsonReply({"results": results, "usage": {"total_tokens": 9}})
        await asyncio.to_thread(self.gate.wait)
        texts = body["input"]
        data = [{"index": index, "embedding": self._vector(text)} for index, text in enumerate(texts)]
        return JsonReply({"data": data, "usage": {"prompt_tokens": 10 * len(texts), "total_tokens": 10 * len(texts)}})

    def batches(self) -> list[int]:
        return [len(each.json["input"]) for each in self.requests if each.path.endswith("/embeddings")]

    def _vector(self, text: str) -> list[float]:
        digest = hashlib.sha256(text.split(" ")[0].encode()).digest()
        return [digest[place] / 255 - 0.5 for place in range(self.dimension)]


@contextmanager
def served() -> Iterator[FakeVectors]:
    """Runs the service in a thread of its own."""
    loop, service = asyncio.new_event_loop(), FakeVectors()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(service.__aenter__(), loop).result(30)
    try:
        yield service
    finally:
        service.gate.set()
        asyncio.run_coroutine_threadsafe(service.__aexit__(None, None, None), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture
def service() -> Iterator[FakeVectors]:
    with served() as service:
        yield service


@pytest.fixture
def embedding(host: Host, service: FakeVectors) -> dict[str, str]:
    """Returns the embedding of a base: a model of the service."""
    return {"model_id": add_model(host, service, "embedding")}


def add_model(host: Host, service: FakeVectors, kind: str) -> str:
    provider = {"name": "Vectors", "kind": "openai-compatible", "base_url": f"{service.url}/v1", "api_keys": ["k"]}
    made = host.http().post("/model-providers", json=provider)
    assert made.status_code == 201, made.text
    body: dict[str, Any] = {"provider_id": made.json()["provider_id"], "name": "vectors", "type": kind}
    model = host.http().post("/models", json={**body, "prices": {"input": 2}})
    assert model.status_code == 201, model.text
    return str(model.json()["model_id"])


def test_a_file_is_embedded_in_batches(host: Host, service: FakeVectors, embedding: dict[str, str]) -> None:
    kb_id = new_base(host, embedding=embedding)
    file = finished(host, kb_id, upload(host, kb_id, "piers.txt", LONG.encode())["file_id"])
    assert file["status"] == "completed", file
    assert max(service.batches()) == 64
    assert sum(service.batches()) >= file["chunks"]
    assert search(host, kb_id, "tide at pier 77")


def test_a_busy_service_is_asked_again(host: Host, service: FakeVectors, embedding: dict[str, str]) -> None:
    busy = JsonReply({"error": {"message": "slow down"}}, 429, {"Retry-After": "0"})
    service.refusals = [busy, JsonReply({"error": {"message": "oops"}}, 500)]
    kb_id = new_base(host, embedding=embedding)
    file = finished(host, kb_id, upload(host, kb_id, "a.txt", b"High tide is at noon.")["file_id"])
    assert (file["status"], service.refusals) == ("completed", [])


def test_a_refusal_of_the_service_is_the_error_of_the_file(
    host: Host, service: FakeVectors, embedding: dict[str, str]
) -> None:
    service.refusals = [JsonReply({"error": {"message": "no such model"}}, 400)] * 3
    kb_id = new_base(host, embedding=embedding)
    file = finished(host, kb_id, upload(host, kb_id, "a.txt", b"High tide is at noon.")["file_id"])
    assert (file["status"], file["error"]["code"]) == ("failed", "embed.refused")
    service.refusals = []
    retried = host.http().post(f"/knowledge-bases/{kb_id}/files/{file['file_id']}/retry")
    assert retried.status_code == 202, retried.text
    assert finished(host, kb_id, file["file_id"])["status"] == "completed"


def test_vectors_of_another_length_are_refused(host: Host, service: FakeVectors, embedding: dict[str, str]) -> None:
    kb_id = new_base(host, embedding=embedding)
    assert finished(host, kb_id, upload(host, kb_id, "a.txt", b"High tide.")["file_id"])["status"] == "completed"
    service.dimension = DIMENSION + 1
    other = finished(host, kb_id, upload(host, kb_id, "b.txt", b"Low tide.")["file_id"])
    assert (other["status"], other["error"]["code"]) == ("failed", "embed.dimension")
    answer = host.http().post(f"/knowledge-bases/{kb_id}/search", json={"query": "tide", "mode": "vector"})
    assert error_code(answer) == "embed.dimension"
    assert search(host, kb_id, "high tide")[0]["text"] == "High tide."


def test_embedding_counts_towards_the_budget_of_the_workspace(
    host: Host, service: FakeVectors, embedding: dict[str, str]
) -> None:
    made = host.http().post("/budgets", json={"name": "Small", "scope": "workspace", "tokens": 100_000})
    budget = f"/budgets/{made.json()['budget_id']}"
    try:
        kb_id = new_base(host, embedding=embedding)
        finished(host, kb_id, upload(host, kb_id, "a.txt", b"High tide is at noon.")["file_id"])
        assert host.http().get(budget).json()["uses"][0]["used"]["tokens"] >= 10
        host.http().put(budget, json={"name": "Small", "scope": "workspace", "tokens": 1})
        asked = len(service.batches())
        refused = finished(host, kb_id, upload(host, kb_id, "b.txt", b"Low tide is at six.")["file_id"])
        assert (refused["status"], refused["error"]["code"]) == ("failed", "embed.refused")
        assert len(service.batches()) == asked
    finally:
        host.http().delete(budget)


def test_reranking_orders_the_passages_and_its_failure_is_noted(host: Host, service: FakeVectors) -> None:
    model = add_model(host, service, "rerank")
    kb_id = new_base(host)
    for name in ("one", "two", "three"):
        finished(host, kb_id, upload(host, kb_id, f"{name}.txt", f"The tide at pier {name}.".encode())["file_id"])
    settings = {"rerank_model": model}
    before = [each["text"] for each in search(host, kb_id, "tide at the pier")]
    answer = (
        host.http()
        .post(f"/knowledge-bases/{kb_id}/search", json={"query": "tide at the pier", "settings": settings})
        .json()
    )
    assert ([each["text"] for each in answer["items"]], answer["notes"]) == (before, ["rerank_failed"])
    service.rerank_order = [2, 0, 1]
    reranked = search(host, kb_id, "tide at the pier", settings=settings, explain=True)
    assert [each["text"] for each in reranked] == [before[2], before[0], before[1]]
    assert reranked[0]["parts"]["rerank"] == 1


def test_the_old_vectors_are_searched_until_the_new_ones_are_complete(
    host: Host, service: FakeVectors, embedding: dict[str, str]
) -> None:
    kb_id = new_base(host)
    finished(host, kb_id, upload(host, kb_id, "a.txt", b"High tide is at noon.")["file_id"])
    service.gate.clear()
    changed = host.http().put(f"/knowledge-bases/{kb_id}", json={"name": "Handbook", "embedding": embedding})
    assert changed.status_code == 200, changed.text
    eventually(lambda: service.batches(), "the new vectors are being made")
    base = host.http().get(f"/knowledge-bases/{kb_id}").json()
    assert (base["status"], base["embedding"]["model_id"]) == ("reembedding", None)
    assert base["embedding"]["next_model_id"] == embedding["model_id"]
    assert search(host, kb_id, "High tide", mode="vector")[0]["text"] == "High tide is at noon."
    service.gate.set()
    eventually(lambda: host.http().get(f"/knowledge-bases/{kb_id}").json()["status"] == "ready", "the switch")
    assert host.http().get(f"/knowledge-bases/{kb_id}").json()["embedding"] == {"model_id": embedding["model_id"]}
    asked = len(service.batches())
    assert search(host, kb_id, "High tide", mode="vector", settings={"mode": "vector", "min_score": 0})
    assert len(service.batches()) == asked + 1
