"""Reads PDF files and electronic books."""

import posixpath
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

from parlour.core.knowledge.chunking import Block

from . import ocr
from .errors import Unreadable
from .html import html_blocks
from .text import decode

MAX_PAGES = 5000
MIN_PARAGRAPH_END = ".!?。！？:：;；"
CONTAINER = "META-INF/container.xml"


def read_pdf(path: Path) -> Iterator[Block | int]:
    """Yields the number of pages, then the paragraphs of each page."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError

    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("file.encrypted", "the file is protected by a password")
        count = len(reader.pages)
        if count > MAX_PAGES:
            raise Unreadable("file.too_large", f"the file has more than {MAX_PAGES} pages")
        yield count
        recognizes = ocr.is_installed()
        for number, page in enumerate(reader.pages, 1):
            text = page.extract_text()
            if recognizes and not text.strip():
                text = "\n\n".join(ocr.recognize(image.data) for image in page.images)
            for paragraph in _paragraphs(text):
                yield Block(paragraph, (), number)
    except (DependencyError, FileNotDecryptedError) as error:
        raise Unreadable("file.encrypted", "the file is protected by a password") from error
    except (PyPdfError, ValueError, TypeError, KeyError, IndexError, AttributeError, AssertionError) as error:
        raise Unreadable("parse.failed", f"the file is damaged: {error}") from error


def _paragraphs(text: str) -> Iterator[str]:
    """Yields paragraphs; a line that ends a sentence and is short ends one, as an empty line does."""
    lines: list[str] = []
    longest = max((len(line) for line in text.splitlines()), default=0)
    for line in text.splitlines():
        if line.strip():
            lines.append(line.strip())
        ends = line.rstrip().endswith(tuple(MIN_PARAGRAPH_END)) and len(line) < longest * 0.8
        if lines and (not line.strip() or ends):
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)


def read_epub(path: Path) -> Iterator[Block | int]:
    """Yields the number of chapters, then their blocks in reading order. A chapter is a page."""
    with zipfile.ZipFile(path) as book:
        try:
            package = _attribute(book, CONTAINER, "rootfile", "full-path")
            root = _xml(book, package)
            items = {each.get("id"): each for each in root.iter() if _local(each) == "item"}
            spine = [items.get(each.get("idref")) for each in root.iter() if _local(each) == "itemref"]
        except (KeyError, ElementTree.ParseError, ValueError) as error:
            raise Unreadable("parse.failed", f"the book has no readable table of contents: {error}") from error
        folder = posixpath.dirname(package)
        chapters = [item for item in spine if item is not None and "html" in item.get("media-type", "")]
        yield len(chapters)
        for number, item in enumerate(chapters, 1):
            name = posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
            try:
                content = book.read(name)
            except KeyError:
                continue
            yield from html_blocks(decode(content), number)


def _xml(book: zipfile.ZipFile, name: str) -> ElementTree.Element:
    content = book.read(name)
    if b"<!ENTITY" in content or b"<!DOCTYPE" in content:
        raise ValueError(f"{name} declares entities")
    return ElementTree.fromstring(content)


def _attribute(book: zipfile.ZipFile, name: str, tag: str, attribute: str) -> str:
    for each in _xml(book, name).iter():
        if _local(each) == tag:
            return str(each.attrib[attribute])
    raise KeyError(tag)


def _local(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]
