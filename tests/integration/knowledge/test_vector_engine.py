"""Tests an engine that has no store: the Host streams and parses its files, embeds, keeps vectors, and reranks."""

from collections.abc import Iterator

import pytest

from tests.support.harness import Host, Json, eventually

from .plugin_files import write_vector_engine
from .test_bases import finished, new_base, search, upload
from .test_provider_models import FakeVectors, add_model, served

TIDES = b"# Tides\n\ntide is high at noon.\n\n# Ropes\n\nrope is dry.\n\n# Crew\n\ncrew has leave in May.\n"


@pytest.fixture(scope="module")
def service() -> Iterator[FakeVectors]:
    with served() as service:
        service.rerank_order = [1, 0]
        yield service


@pytest.fixture(scope="module")
def vector_host(tmp_path_factory: pytest.TempPathFactory, service: FakeVectors) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("vector engine"))
    plugin = write_vector_engine(tmp_path_factory.mktemp("plugins") / "vectors")
    host.install(plugin, "--grant", "storage,models")
    host.start()
    yield host
    host.close()


@pytest.fixture(scope="module")
def config(vector_host: Host, service: FakeVectors) -> Json:
    return {kind: add_model(vector_host, service, kind) for kind in ("embedding", "rerank")}


def names(found: list[Json]) -> set[str]:
    return {each["file_name"] for each in found}


def test_vectors_of_an_engine_outlive_a_restart_and_are_reranked(vector_host: Host, config: Json) -> None:
    kb_id = new_base(vector_host, engine="test/vectors", engine_config=config)
    file = finished(vector_host, kb_id, upload(vector_host, kb_id, "tides.md", TIDES)["file_id"])
    assert (file["status"], file["chunks"]) == ("completed", 3), file
    finished(vector_host, kb_id, upload(vector_host, kb_id, "crew.txt", b"crew is on deck.")["file_id"])

    first, second = search(vector_host, kb_id, "crew")

    assert first["metadata"]["cosine"] <= second["metadata"]["cosine"] == pytest.approx(1.0)  # in the reranked order
    lengths = {each["file_name"]: each["metadata"]["length"] for each in (first, second)}
    assert set(lengths.items()) <= {("tides.md", len(TIDES)), ("crew.txt", 16)}
    only = search(vector_host, kb_id, "crew", filters={"name": "tides.md"})
    assert names(only) == {"tides.md"}

    vector_host.stop()
    vector_host.start()
    eventually(lambda: vector_host.http().get(f"/knowledge-bases/{kb_id}").json()["problem"] is None, "it is back")
    assert search(vector_host, kb_id, "crew") == [first, second]

    assert vector_host.http().delete(f"/knowledge-bases/{kb_id}/files/{file['file_id']}").status_code == 204
    eventually(lambda: names(search(vector_host, kb_id, "crew")) == {"crew.txt"}, "the engine has deleted the file")
    other = new_base(vector_host, engine="test/vectors", engine_config=config)
    assert search(vector_host, other, "crew") == []


def test_vectors_of_another_length_are_refused_with_a_reason(
    vector_host: Host, service: FakeVectors, config: Json
) -> None:
    kb_id = new_base(vector_host, engine="test/vectors", engine_config=config)
    finished(vector_host, kb_id, upload(vector_host, kb_id, "crew.txt", b"crew is on deck.")["file_id"])
    before, service.dimension = service.dimension, 4
    try:
        file = finished(vector_host, kb_id, upload(vector_host, kb_id, "b.txt", b"rope is dry.")["file_id"])
    finally:
        service.dimension = before
    assert (file["status"], file["error"]["code"]) == ("failed", "engine.refused")
    assert "all vectors of a collection have 8 numbers" in file["error"]["message"]
