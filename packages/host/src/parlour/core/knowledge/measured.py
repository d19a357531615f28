"""Measures the stages of knowledge bases: parse, chunk, embed, search and rerank."""

import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, Protocol

from parlour.core.model.ids import ModelId
from parlour.core.model.knowledge import ChunkSettings
from parlour.core.model.providers import CallContext

from .ports import Embeddings, FileParser, ParsedPart, Vectors

Stage = Literal["parse", "chunk", "embed", "embed_query", "search", "rerank"]
STAGE_SECONDS = "parlour_knowledge_stage_seconds"


class Durations(Protocol):
    """Collects durations by name and labels."""

    def observe(self, name: str, seconds: float, *labels: tuple[str, str]) -> None: ...


class StageMeter:
    """Passes on how long stages took, and whether they failed."""

    def __init__(self, durations: Durations | None = None) -> None:
        self._durations = durations

    def add(self, stage: Stage, seconds: float, outcome: str = "done") -> None:
        if self._durations is not None:
            self._durations.observe(STAGE_SECONDS, seconds, ("stage", stage), ("outcome", outcome))

    @contextmanager
    def measure(self, stage: Stage) -> Iterator[None]:
        started, outcome = time.perf_counter(), "failed"
        try:
            yield
            outcome = "done"
        finally:
            self.add(stage, time.perf_counter() - started, outcome)


class MeasuredEmbeddings:
    """Embeddings whose calls are measured. Texts of files and queries are different stages."""

    def __init__(self, embeddings: Embeddings, meter: StageMeter) -> None:
        self._embeddings = embeddings
        self._meter = meter

    async def embed(
        self, model_id: ModelId, texts: Sequence[str], context: CallContext, is_query: bool = False
    ) -> Vectors:
        with self._meter.measure("embed_query" if is_query else "embed"):
            return await self._embeddings.embed(model_id, texts, context, is_query)


class MeasuredParser:
    """A parser whose work is measured, without what is done with its passages in between."""

    def __init__(self, parser: FileParser, meter: StageMeter) -> None:
        self._parser = parser
        self._meter = meter

    def detect(self, head: bytes, name: str, mime_type: str, parser: str = "") -> str | None:
        return self._parser.detect(head, name, mime_type, parser)

    async def parse(
        self, path: Path, name: str, mime_type: str, settings: ChunkSettings, parser: str = ""
    ) -> AsyncIterator[ParsedPart]:
        spent, cut, outcome = 0.0, 0.0, "failed"
        started = time.perf_counter()
        try:
            async for part in self._parser.parse(path, name, mime_type, settings, parser):
                spent += time.perf_counter() - started
                cut += part.chunk_seconds
                yield part
                started = time.perf_counter()
            outcome = "done"
        except GeneratorExit:
            outcome = ""  # the file was cancelled or deleted
            raise
        finally:
            if outcome:
                spent += time.perf_counter() - started
                self._meter.add("parse", max(0.0, spent - cut), outcome)
            if outcome == "done":
                self._meter.add("chunk", cut)
