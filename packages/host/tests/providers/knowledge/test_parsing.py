"""Tests the readers of files through their real processes: every format, and files that mean harm."""

import zipfile
from pathlib import Path

import pytest

from parlour.core.knowledge.ports import KnowledgeFailed
from parlour.core.model.knowledge import ChunkSettings, Passage
from parlour.providers.knowledge.parsing import file_types
from parlour.providers.knowledge.parsing.file_types import detect_type
from parlour.providers.knowledge.parsing.process import ParserLimits, ParserProcesses

from .sample_files import CELLS, CHINESE, ENGLISH, HEADING, NOTE, SUFFIXES, make, pdf

HIDDEN = ("SCRIPT-SENTINEL", "NAVIGATION-SENTINEL", "FOOTER-SENTINEL", "HEADER-SENTINEL")
HAS_TABLE = ("docx", "pptx", "xlsx", "csv", "html", "epub", "md")
HAS_HEADING = ("docx", "pptx", "xlsx", "html", "epub", "md")
OTHER_CHINESE = ("pdf", "big5.txt", "sjis.txt")


@pytest.fixture(scope="module")
def parser() -> ParserProcesses:
    return ParserProcesses(ParserLimits())


def type_of(path: Path) -> str:
    with path.open("rb") as file:
        found = detect_type(file.read(2048), path.name, "")
    assert found is not None
    return found


async def read(parser: ParserProcesses, path: Path, chunker: str = "general") -> list[Passage]:
    found = type_of(path)
    settings = ChunkSettings(chunker)  # type: ignore[arg-type]
    return [passage async for part in parser.parse(path, path.name, found, settings) for passage in part.passages]


@pytest.mark.parametrize("suffix", SUFFIXES)
async def test_the_text_of_a_format_is_found_completely(parser: ParserProcesses, tmp_path: Path, suffix: str) -> None:
    passages = await read(parser, make(tmp_path, suffix))
    text = "\n".join(passage.searchable for passage in passages)
    assert ENGLISH in text
    assert (suffix in OTHER_CHINESE) or CHINESE in text
    assert [word for word in HIDDEN if word in text] == []
    if suffix in HAS_TABLE:
        assert [cell for row in CELLS for cell in row if cell not in text] == []
    if suffix in HAS_HEADING:
        assert HEADING in passages[0].heading
    if suffix == "pptx":
        assert NOTE in text
    if suffix == "big5.txt":
        assert "旅客可以在那裡找到時間" in text
    if suffix == "sjis.txt":
        assert "港の責任者は潮の表を" in text


async def test_passages_of_a_pdf_know_their_page(parser: ParserProcesses, tmp_path: Path) -> None:
    passages = await read(parser, make(tmp_path, "pdf"))
    assert [passage.page for passage in passages] == [1, 2]
    assert [passage.position for passage in passages] == [0, 1]


async def test_a_reader_sees_no_other_file_and_no_network(parser: ParserProcesses, tmp_path: Path) -> None:
    bubblewrap = await parser._sandbox()
    assert bubblewrap is not None, "make sandbox installs it"


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("a.bin", b"\x89PNG\r\n\x1a\n" + bytes(50), None),
        ("a.exe", b"MZ" + bytes(range(256)), None),
        ("a.zip", b"PK\x03\x04" + bytes(40), None),
        ("notes.pdf", b"plain text with a wrong name", file_types.TEXT),
        ("a.txt", b"%PDF-1.7 with a wrong name", file_types.PDF),
        ("a.csv", b"a,b\n1,2\n", file_types.CSV),
        ("a.md", "# 标题".encode(), file_types.MARKDOWN),
        ("a", b"<!doctype html><html><body>x</body></html>", file_types.HTML),
        ("gbk.txt", "港务长".encode("gb18030"), file_types.TEXT),
    ],
)
def test_types_are_recognized_by_content(name: str, content: bytes, found: str | None) -> None:
    assert detect_type(content, name, "") == found


def _bomb(folder: Path) -> Path:
    path = folder / "bomb.docx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", b"0" * (60 * 1024 * 1024))
    return path


def _nested(folder: Path) -> Path:
    path = folder / "nested.docx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", "<a/>")
        archive.writestr("inner.zip", b"PK")
    return path


def _entities(folder: Path) -> Path:
    path = folder / "entities.docx"
    lines = ['<!DOCTYPE a [<!ENTITY a0 "ha">']
    lines += [f'<!ENTITY a{level} "{f"&a{level - 1};" * 10}">' for level in range(1, 12)]
    document = f"{''.join(lines)}]><w:document xmlns:w='x'>&a11;</w:document>"
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="xml" ContentType="application/xml"/></Types>'
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", types)
        archive.writestr("word/document.xml", document)
    return path


def _declared_rows(folder: Path) -> Path:
    path = make(folder, "xlsx")
    changed = folder / "declared.xlsx"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(changed, "w") as target:
        for entry in source.infolist():
            content = source.read(entry)
            target.writestr(entry.filename, content.replace(b'ref="A1:B5"', b'ref="A1:XFD1048576"'))
    return changed


def _truncated(folder: Path) -> Path:
    path = folder / "cut.pdf"
    path.write_bytes(pdf([[ENGLISH]])[:200])
    return path


def _deep_html(folder: Path) -> Path:
    path = folder / "deep.html"
    path.write_text("<html>" + "<div>" * 20_000 + "deep" + "</div>" * 20_000, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("build", "codes"),
    [
        (_bomb, ("file.too_large",)),
        (_nested, ("file.type",)),
        (_entities, ("parse.failed", "parse.memory", "file.type")),
        (_truncated, ("parse.failed", "nothing")),
        (_declared_rows, ("read",)),
        (_deep_html, ("read",)),
    ],
)
async def test_a_hostile_file_ends_in_a_code(
    parser: ParserProcesses, tmp_path: Path, build: object, codes: tuple[str, ...]
) -> None:
    path = build(tmp_path)  # type: ignore[operator]
    try:
        passages = await read(parser, path)
        outcome = "read" if passages else "nothing"
    except KnowledgeFailed as failure:
        outcome = failure.code
    assert outcome in codes


async def test_a_file_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("word " * 1_000_000, encoding="utf-8")
    hasty = ParserProcesses(ParserLimits(seconds=0.3), use_sandbox=False)
    with pytest.raises(KnowledgeFailed) as raised:
        await read(hasty, path)
    assert raised.value.code == "parse.timeout"


async def test_a_file_that_needs_too_much_memory_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    path.write_text("word " * 3_000_000, encoding="utf-8")
    small = ParserProcesses(ParserLimits(memory_mb=160), use_sandbox=False)
    with pytest.raises(KnowledgeFailed) as raised:
        await read(small, path)
    assert raised.value.code == "parse.memory"


async def test_questions_and_rows_are_passages_of_their_own(parser: ParserProcesses, tmp_path: Path) -> None:
    path = tmp_path / "faq.md"
    path.write_text("# FAQ\n\nQ: When is low tide?\nA: At six.\nQ: 谁有钥匙？\nA: 船长。\n", encoding="utf-8")
    passages = await read(parser, path, "qa")
    assert [passage.text for passage in passages] == ["When is low tide?\nAt six.", "谁有钥匙？\n船长。"]
    rows = await read(parser, make(tmp_path, "csv"), "rows")
    assert len(rows) == 4
