"""Reads Word files, presentations and workbooks. Headers and footers are left out, since they repeat on every page."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parlour.core.knowledge.chunking import Block

from .errors import Unreadable
from .html import table_text
from .text import row_blocks


def read_docx(path: Path) -> Iterator[Block]:
    """Yields paragraphs and tables in their order, below their headings; then footnotes."""
    from docx import Document
    from docx.table import Table

    document = Document(str(path))
    headings: list[str] = []
    for item in document.iter_inner_content():
        if isinstance(item, Table):
            rows = [[" ".join(cell.text.split()) for cell in row.cells] for row in item.rows]
            rows = [row for row in rows if any(row)]
            if rows:
                yield Block(table_text(rows), tuple(headings), 0, "table")
            continue
        text, style = item.text.strip(), (item.style.name or "") if item.style is not None else ""
        if not text:
            continue
        if style == "Title":
            headings[:] = [text]
        elif style.startswith("Heading ") and style[8:].isdigit():
            level = int(style[8:])
            headings[:] = [*headings[: level - 1], *[""] * (level - 1 - len(headings)), text]
        else:
            yield Block(f"- {text}" if style.startswith("List") else text, tuple(headings))
    yield from _notes(document)


def _notes(document: Any) -> Iterator[Block]:
    for part in document.part.package.iter_parts():
        name = str(part.partname)
        if name in ("/word/footnotes.xml", "/word/endnotes.xml", "/word/comments.xml"):
            from lxml import etree

            root = etree.fromstring(part.blob, etree.XMLParser(resolve_entities=False, no_network=True))
            text_tag = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}t"
            for note in root:
                text = "".join(element.text or "" for element in note.iter(text_tag)).strip()
                if text:
                    yield Block(text)


def read_pptx(path: Path) -> Iterator[Block]:
    """Yields the texts, tables and notes of each slide; a slide is a page."""
    from pptx import Presentation

    for number, slide in enumerate(Presentation(str(path)).slides, 1):
        title_shape = slide.shapes.title
        title = title_shape.text_frame.text.strip() if title_shape is not None else ""
        headings = (title,) if title else ()
        has_content = False
        for block in _shapes(slide.shapes, title_shape, headings, number):
            has_content = True
            yield block
        notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
        if notes is not None and notes.text.strip():
            has_content = True
            yield Block(notes.text.strip(), headings, number)
        if title and not has_content:
            yield Block(title, (), number)


def _shapes(shapes: Any, title: Any, headings: tuple[str, ...], page: int, depth: int = 0) -> Iterator[Block]:
    for shape in shapes:
        if title is not None and shape.shape_id == title.shape_id:
            continue
        if getattr(shape, "has_table", False) and shape.has_table:
            rows = [[" ".join(cell.text.split()) for cell in row.cells] for row in shape.table.rows]
            yield Block(table_text(rows), headings, page, "table")
        elif getattr(shape, "has_text_frame", False) and shape.has_text_frame and shape.text_frame.text.strip():
            yield Block(shape.text_frame.text.strip(), headings, page)
        elif hasattr(shape, "shapes") and depth < 10:
            yield from _shapes(shape.shapes, None, headings, page, depth + 1)


def read_xlsx(path: Path) -> Iterator[Block]:
    """Yields the rows of each sheet as `column: value` pairs. A formula has the value that was stored with it."""
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        workbook = load_workbook(path, read_only=True, data_only=True)
    except InvalidFileException as error:
        raise Unreadable("parse.failed", str(error)) from error
    for sheet in workbook.worksheets:
        sheet.reset_dimensions()  # a file may declare a billion empty rows
        rows = ([_cell(value) for value in row] for row in sheet.iter_rows(values_only=True))
        yield from row_blocks(rows, (sheet.title,))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).removesuffix(" 00:00:00")
