"""Tests knowledge engines and parsers: requests of the Host reach them, and their failures are reported."""

import base64
from typing import Any

import pytest

from parlour_sdk.components import KnowledgeContext, KnowledgeEngine, Parser, content_of
from parlour_sdk.protocol.knowledge import (
    ChunkSource,
    IngestOutcome,
    KnowledgeChunk,
    KnowledgeFile,
    KnowledgeResult,
    ParsedFile,
    ParsedSection,
)
from parlour_sdk.wire import WireError

from .support import loaded, serving


class RecordingEngine(KnowledgeEngine):
    def __init__(self, failure: Exception | None = None) -> None:
        self.requests: list[Any] = []
        self.failure = failure

    async def ingest(self, kb_id: str, file: KnowledgeFile, ctx: KnowledgeContext) -> IngestOutcome | int:
        self._record("ingest", kb_id, file.name, ctx.config)
        return IngestOutcome(status="failed", error="no space") if file.name == "big" else 3

    async def retrieve(
        self, kb_id: str, query: str, top_k: int, filters: dict[str, Any] | None, ctx: KnowledgeContext
    ) -> list[KnowledgeChunk]:
        self._record("retrieve", kb_id, query, top_k, filters, ctx.config)
        source = ChunkSource(file_name="a.txt")
        return [KnowledgeChunk(chunk_id=str(n), kb_id=kb_id, content="x", score=1, source=source) for n in range(9)]

    async def delete(self, kb_id: str, file_id: str | None, ctx: KnowledgeContext) -> None:
        self._record("delete", kb_id, file_id)

    def _record(self, *what: Any) -> None:
        self.requests.append(what)
        if self.failure is not None:
            raise self.failure


FILE = {"file_id": "f-1", "name": "a.txt", "text": "words"}


def serving_engine(engine: RecordingEngine) -> Any:
    return serving(loaded(knowledge_engines={"engine": engine}))


async def test_an_engine_ingests_retrieves_and_deletes() -> None:
    engine = RecordingEngine()
    async with serving_engine(engine) as connection:
        ingested = await connection.peer.call("kb_ingest", {"kb_id": "kb", "file": FILE, "config": {"url": "u"}})
        found = await connection.peer.call(
            "kb_retrieve", {"kb_id": "kb", "query": "why", "top_k": 2, "filters": {"a": 1}}
        )
        assert await connection.peer.call("kb_delete", {"kb_id": "kb", "file_id": "f-1"}) == {}
        assert await connection.peer.call("kb_delete", {"kb_id": "kb"}) == {}
    assert IngestOutcome.model_validate(ingested) == IngestOutcome(status="done", chunks=3)
    assert [chunk.chunk_id for chunk in KnowledgeResult.model_validate(found).chunks] == ["0", "1"]
    assert engine.requests == [
        ("ingest", "kb", "a.txt", {"url": "u"}),
        ("retrieve", "kb", "why", 2, {"a": 1}, {}),
        ("delete", "kb", "f-1"),
        ("delete", "kb", None),
    ]


async def test_an_engine_may_report_why_it_ingested_nothing() -> None:
    async with serving_engine(RecordingEngine()) as connection:
        ingested = await connection.peer.call("kb_ingest", {"kb_id": "kb", "file": {**FILE, "name": "big"}})
    assert IngestOutcome.model_validate(ingested) == IngestOutcome(status="failed", error="no space")


async def test_a_failing_engine_is_reported_without_secrets() -> None:
    async with serving_engine(RecordingEngine(RuntimeError("the secret is 12345"))) as connection:
        ingested = await connection.peer.call("kb_ingest", {"kb_id": "kb", "file": FILE})
        for action in ("kb_retrieve", "kb_delete"):
            with pytest.raises(WireError, match="knowledge engine failed with RuntimeError") as refusal:
                await connection.peer.call(action, {"kb_id": "kb", "query": "why"})
            assert "12345" not in refusal.value.message
    assert ingested["status"] == "failed"
    assert "'a.txt', failed with RuntimeError" in ingested["error"]
    assert "12345" not in ingested["error"]


class NamedParser(Parser):
    def __init__(self, name: str) -> None:
        self.name = name

    async def parse(self, file: KnowledgeFile, config: dict[str, Any]) -> ParsedFile | str:
        if config.get("fail"):
            raise ValueError("the secret is 12345")
        text = f"{self.name}: {content_of(file).decode()}"
        return ParsedFile(text=text, sections=[ParsedSection(text=text, page=1)]) if config else text


def serving_parsers() -> Any:
    specs: dict[Any, Any] = {
        ("Parser", "pdf"): {"extensions": [".PDF"]},
        ("Parser", "web"): {"extensions": [".html"], "mime_types": ["text/html"]},
    }
    return serving(loaded(parsers={"pdf": NamedParser("pdf"), "web": NamedParser("web")}, specs=specs))


def file(name: str, mime_type: str | None = None, content: bytes = b"hello") -> dict[str, Any]:
    encoded = base64.b64encode(content).decode()
    return {"file_id": "f", "name": name, "mime_type": mime_type, "content_base64": encoded}


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (file("a.pdf"), "pdf: hello"),
        (file("A.Pdf"), "pdf: hello"),
        (file("page", "text/html"), "web: hello"),
        ({"file_id": "f", "name": "a.html", "text": "grüße"}, "web: grüße"),
    ],
)
async def test_a_file_is_parsed_by_the_parser_of_its_format(given: dict[str, Any], text: str) -> None:
    async with serving_parsers() as connection:
        parsed = ParsedFile.model_validate(await connection.peer.call("parse_file", {"file": given}))
    assert parsed == ParsedFile(text=text)


async def test_a_parser_may_return_sections() -> None:
    async with serving_parsers() as connection:
        parsed = await connection.peer.call("parse_file", {"file": file("a.pdf"), "config": {"deep": True}})
    assert ParsedFile.model_validate(parsed).sections == [ParsedSection(text="pdf: hello", page=1)]


async def test_a_failing_parser_is_reported_with_the_file_and_without_secrets() -> None:
    async with serving_parsers() as connection:
        with pytest.raises(WireError, match=r"with 'a\.pdf', failed with ValueError") as refusal:
            await connection.peer.call("parse_file", {"file": file("a.pdf"), "config": {"fail": True}})
    assert "12345" not in refusal.value.message


async def test_a_file_without_a_parser_for_its_format_is_refused() -> None:
    async with serving_parsers() as connection:
        with pytest.raises(WireError, match=r"no parser for 'a\.docx'") as refusal:
            await connection.peer.call("parse_file", {"file": file("a.docx")})
    assert refusal.value.code == "not_supported"
