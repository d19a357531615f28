"""Tests the official connectors through a real Host: datasets of other systems are searched like any base."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from parlour_sdk.testing.services.datasets import (
    API_KEY,
    DATASET,
    FakeDatasets,
    FakeDifyDatasets,
    FakeFastGpt,
    FakeRagFlow,
)
from tests.support.harness import Host, Json, error_code

from .test_bases import search

ROOT = Path(__file__).parents[3]
CONNECTORS: dict[str, type[FakeDatasets]] = {
    "dify-datasets": FakeDifyDatasets,
    "ragflow-datasets": FakeRagFlow,
    "fastgpt-datasets": FakeFastGpt,
}
SETTINGS = {
    "dify-datasets": {"search_method": "semantic_search", "score_threshold": 0.4},
    "ragflow-datasets": {"vector_similarity_weight": 0.7},
    "fastgpt-datasets": {"search_mode": "embedding", "rerank": True},
}
"""Settings of a search, and what the service gets of them."""
SENT = {
    "dify-datasets": lambda body: (
        body["retrieval_model"]["search_method"],
        body["retrieval_model"]["score_threshold"],
    ),
    "ragflow-datasets": lambda body: body["vector_similarity_weight"],
    "fastgpt-datasets": lambda body: (body["searchMode"], body["usingReRank"]),
}
EXPECTED = {
    "dify-datasets": ("semantic_search", 0.4),
    "ragflow-datasets": 0.7,
    "fastgpt-datasets": ("embedding", True),
}


@contextmanager
def served(service: FakeDatasets) -> Iterator[FakeDatasets]:
    """Runs a service in a thread of its own, since the Host is called without an event loop."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(service.__aenter__(), loop).result(30)
    try:
        yield service
    finally:
        asyncio.run_coroutine_threadsafe(service.__aexit__(None, None, None), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture(scope="module")
def dataset_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("datasets"))
    for name in CONNECTORS:
        host.install(ROOT / "plugins" / name, "--grant", "network")
    host.start()
    yield host
    host.close()


def base_of(host: Host, name: str, service: FakeDatasets, **config: str) -> Json:
    values = {"base_url": service.url, "api_key": API_KEY, "dataset_id": DATASET, **config}
    made = host.http().post(
        "/knowledge-bases", json={"name": name, "engine": f"parlour/{name}", "engine_config": values}
    )
    assert made.status_code == 201, made.text
    return dict(made.json())


@pytest.mark.parametrize("name", CONNECTORS)
def test_a_dataset_is_searched_with_the_settings_of_its_service(dataset_host: Host, name: str) -> None:
    with served(CONNECTORS[name]()) as service:
        service.passages = ["The tide turns at noon", "Ropes are kept in the shed", "No tide in the canal"]
        base = base_of(dataset_host, name, service)
        assert base["engine_config"]["api_key"] == "********"
        found = search(dataset_host, base["kb_id"], "tide")
        assert [each["text"] for each in found] == ["The tide turns at noon", "No tide in the canal"]
        assert [(each["file_name"], each["metadata"]["document_id"]) for each in found] == [("manual.pdf", "doc-1")] * 2
        assert found[0]["score"] == pytest.approx(0.9)
        search(dataset_host, base["kb_id"], "tide", settings=SETTINGS[name])
        assert SENT[name](service.requests[-1].json) == EXPECTED[name]
        refused = dataset_host.http().post(
            f"/knowledge-bases/{base['kb_id']}/search", json={"query": "tide", "settings": {"colour": 1}}
        )
        assert (refused.status_code, error_code(refused)) == (422, "invalid_argument")


@pytest.mark.parametrize("name", CONNECTORS)
def test_what_is_wrong_with_a_dataset_is_said(dataset_host: Host, name: str) -> None:
    with served(CONNECTORS[name]()) as service:
        for config in ({"api_key": "wrong"}, {"dataset_id": "other"}):
            base = base_of(dataset_host, name, service, **config)
            answer = dataset_host.http().post(f"/knowledge-bases/{base['kb_id']}/search", json={"query": "tide"})
            assert (answer.status_code, error_code(answer)) == (409, "engine.failed"), answer.text
            assert "was not searched" in answer.text
            assert "wrong" not in answer.text
    gone = dataset_host.http().post(f"/knowledge-bases/{base['kb_id']}/search", json={"query": "tide"})
    assert "can't be reached" in gone.text


@pytest.mark.parametrize("name", CONNECTORS)
def test_files_of_a_dataset_stay_in_its_service(dataset_host: Host, name: str) -> None:
    with served(CONNECTORS[name]()) as service:
        base = base_of(dataset_host, name, service)
        upload = {"file": ("a.txt", b"text")}
        refused = dataset_host.http().post(f"/knowledge-bases/{base['kb_id']}/files", files=upload)
        assert (refused.status_code, error_code(refused)) == (409, "not_supported")


def test_a_masked_key_stays_and_another_engine_is_refused(dataset_host: Host) -> None:
    with served(FakeFastGpt()) as service:
        service.passages = ["The tide turns at noon"]
        service.lists_scores = False
        base = base_of(dataset_host, "fastgpt-datasets", service)
        address = f"/knowledge-bases/{base['kb_id']}"
        body = {"name": "Tides", "engine": base["engine"], "engine_config": base["engine_config"]}
        assert dataset_host.http().put(address, json=body).status_code == 200
        assert search(dataset_host, base["kb_id"], "tide")[0]["text"] == "The tide turns at noon"
        assert dataset_host.http().put(address, json={"name": "Tides"}).status_code == 422
        assert dataset_host.http().post(f"{address}/reembed").status_code == 409
