"""Tests what is measured of a parser and an embedding: each stage once, without what happens in between."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from parlour.core.knowledge.measured import STAGE_SECONDS, MeasuredEmbeddings, MeasuredParser, StageMeter
from parlour.core.knowledge.ports import HOST_CONTEXT, KnowledgeFailed, ParsedPart
from parlour.core.model.ids import ModelId
from parlour.core.model.knowledge import ChunkSettings
from parlour.core.model.providers import CallContext
from parlour.core.observability.metrics import Metrics


class Parser:
    def __init__(self, fails: bool) -> None:
        self._fails = fails

    def detect(self, head: bytes, name: str, mime_type: str, parser: str = "") -> str | None:
        return None

    async def parse(
        self, path: Path, name: str, mime_type: str, settings: ChunkSettings, parser: str = ""
    ) -> AsyncIterator[ParsedPart]:
        yield ParsedPart([], 50)
        if self._fails:
            raise KnowledgeFailed("parse.failed", "damaged")
        yield ParsedPart([], 100, chunk_seconds=0.25)


class Embeddings:
    async def embed(self, model_id: str, texts: Sequence[str], context: CallContext, is_query: bool = False) -> Any:
        if not texts:
            raise KnowledgeFailed("embed.refused", "nothing to embed")
        return [[1.0]] * len(texts)


def counts(metrics: Metrics) -> dict[str, float]:
    found = [each for each in metrics.samples() if each.name == f"{STAGE_SECONDS}_count"]
    return {" ".join(value for _, value in each.labels): each.value for each in found}


def total(metrics: Metrics, stage: str) -> float:
    [found] = [each for each in metrics.samples() if each.name == f"{STAGE_SECONDS}_sum" and each.labels[0][1] == stage]
    return found.value


async def read(metrics: Metrics, fails: bool = False, parts: int = 2) -> None:
    parser = MeasuredParser(Parser(fails), StageMeter(metrics))
    stream: Any = parser.parse(Path("a"), "a", "", ChunkSettings())
    async for _ in stream:
        parts -= 1
        if not parts:
            await stream.aclose()
            break


async def test_a_file_is_parsed_and_cut_once() -> None:
    metrics = Metrics()
    await read(metrics, parts=3)
    assert counts(metrics) == {"chunk done": 1, "parse done": 1}
    assert total(metrics, "chunk") == 0.25
    assert total(metrics, "parse") == 0, "less than the cutting, which it includes"


async def test_a_file_that_fails_is_no_cut_file_and_a_cancelled_one_is_not_measured() -> None:
    metrics = Metrics()
    with pytest.raises(KnowledgeFailed):
        await read(metrics, fails=True)
    await read(metrics, parts=1)
    assert counts(metrics) == {"parse failed": 1}


async def test_texts_and_queries_are_stages_of_their_own() -> None:
    metrics = Metrics()
    embeddings = MeasuredEmbeddings(Embeddings(), StageMeter(metrics))
    await embeddings.embed(ModelId(""), ["a"], HOST_CONTEXT)
    await embeddings.embed(ModelId(""), ["a"], HOST_CONTEXT, is_query=True)
    with pytest.raises(KnowledgeFailed):
        await embeddings.embed(ModelId(""), [], HOST_CONTEXT)
    assert counts(metrics) == {"embed done": 1, "embed failed": 1, "embed_query done": 1}
