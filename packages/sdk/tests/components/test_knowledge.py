"""Knowledge engines and parsers: what the Host asks reaches them, and their failures come back as sentences."""

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


class Shelf(KnowledgeEngine):
    def __init__(self, failure: Exception | None = None) -> None:
        self.asked: list[Any] = []
        self.failure = failure

    async def ingest(self, kb_id: str, file: KnowledgeFile, ctx: KnowledgeContext) -> IngestOutcome | int:
        self._ask("ingest", kb_id, file.name, ctx.config)
        return IngestOutcome(status="failed", error="no room") if file.name == "big" else 3

    async def retrieve(
        self, kb_id: str, query: str, top_k: int, filters: dict[str, Any] | None, ctx: KnowledgeContext
    ) -> list[KnowledgeChunk]:
        self._ask("retrieve", kb_id, query, top_k, filters, ctx.config)
        source = ChunkSource(file_name="a.txt")
        return [KnowledgeChunk(chunk_id=str(n), kb_id=kb_id, content="x", score=1, source=source) for n in range(9)]

    async def delete(self, kb_id: str, file_id: str | None, ctx: KnowledgeContext) -> None:
        self._ask("delete", kb_id, file_id)

    def _ask(self, *what: Any) -> None:
        self.asked.append(what)
        if self.failure is not None:
            raise self.failure


FILE = {"file_id": "f-1", "name": "a.txt", "text": "words"}


def shelving(shelf: Shelf) -> Any:
    return serving(loaded(knowledge_engines={"shelf": shelf}))


async def test_an_engine_takes_up_finds_and_forgets() -> None:
    shelf = Shelf()
    async with shelving(shelf) as line:
        taken = await line.peer.call("kb_ingest", {"kb_id": "kb", "file": FILE, "config": {"url": "u"}})
        found = await line.peer.call("kb_retrieve", {"kb_id": "kb", "query": "why", "top_k": 2, "filters": {"a": 1}})
        assert await line.peer.call("kb_delete", {"kb_id": "kb", "file_id": "f-1"}) == {}
        assert await line.peer.call("kb_delete", {"kb_id": "kb"}) == {}
    assert IngestOutcome.model_validate(taken) == IngestOutcome(status="done", chunks=3)
    assert [chunk.chunk_id for chunk in KnowledgeResult.model_validate(found).chunks] == ["0", "1"]
    assert shelf.asked == [
        ("ingest", "kb", "a.txt", {"url": "u"}),
        ("retrieve", "kb", "why", 2, {"a": 1}, {}),
        ("delete", "kb", "f-1"),
        ("delete", "kb", None),
    ]


async def test_an_engine_may_say_why_it_took_nothing_up() -> None:
    async with shelving(Shelf()) as line:
        taken = await line.peer.call("kb_ingest", {"kb_id": "kb", "file": {**FILE, "name": "big"}})
    assert IngestOutcome.model_validate(taken) == IngestOutcome(status="failed", error="no room")


async def test_an_engine_whose_code_fails_is_told_of_without_secrets() -> None:
    async with shelving(Shelf(RuntimeError("the secret is 12345"))) as line:
        taken = await line.peer.call("kb_ingest", {"kb_id": "kb", "file": FILE})
        for action in ("kb_retrieve", "kb_delete"):
            with pytest.raises(WireError, match="knowledge engine failed with RuntimeError") as refusal:
                await line.peer.call(action, {"kb_id": "kb", "query": "why"})
            assert "12345" not in refusal.value.message
    assert taken["status"] == "failed"
    assert "'a.txt', failed with RuntimeError" in taken["error"]
    assert "12345" not in taken["error"]


class Reader(Parser):
    def __init__(self, name: str) -> None:
        self.name = name

    async def parse(self, file: KnowledgeFile, config: dict[str, Any]) -> ParsedFile | str:
        if config.get("fail"):
            raise ValueError("the secret is 12345")
        text = f"{self.name}: {content_of(file).decode()}"
        return ParsedFile(text=text, sections=[ParsedSection(text=text, page=1)]) if config else text


def parsing() -> Any:
    specs: dict[Any, Any] = {
        ("Parser", "pdf"): {"extensions": [".PDF"]},
        ("Parser", "web"): {"extensions": [".html"], "mime_types": ["text/html"]},
    }
    return serving(loaded(parsers={"pdf": Reader("pdf"), "web": Reader("web")}, specs=specs))


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
async def test_a_file_goes_to_the_parser_of_its_format(given: dict[str, Any], text: str) -> None:
    async with parsing() as line:
        parsed = ParsedFile.model_validate(await line.peer.call("parse_file", {"file": given}))
    assert parsed == ParsedFile(text=text)


async def test_a_parser_may_tell_sections() -> None:
    async with parsing() as line:
        parsed = await line.peer.call("parse_file", {"file": file("a.pdf"), "config": {"deep": True}})
    assert ParsedFile.model_validate(parsed).sections == [ParsedSection(text="pdf: hello", page=1)]


async def test_a_parser_whose_code_fails_is_told_of_with_the_file_and_without_secrets() -> None:
    async with parsing() as line:
        with pytest.raises(WireError, match=r"with 'a\.pdf', failed with ValueError") as refusal:
            await line.peer.call("parse_file", {"file": file("a.pdf"), "config": {"fail": True}})
    assert "12345" not in refusal.value.message


async def test_a_format_that_no_parser_reads_is_refused() -> None:
    async with parsing() as line:
        with pytest.raises(WireError, match=r"no parser for 'a\.docx'") as refusal:
            await line.peer.call("parse_file", {"file": file("a.docx")})
    assert refusal.value.code == "not_supported"
