"""Recognizes the types of files that can be taken up, by their content. A name decides only between kinds of text."""

from pathlib import PurePath
from typing import Final

from parlour.core.store.media_types import BINARY, detect_media_type

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
EPUB = "application/epub+zip"
HTML = "text/html"
CSV = "text/csv"
TSV = "text/tab-separated-values"
MARKDOWN = "text/markdown"
TEXT = "text/plain"
IMAGES: Final = frozenset(("image/png", "image/jpeg", "image/webp", "image/bmp", "image/tiff"))
"""Images whose text can be recognized."""
ZIP: Final = "application/zip"
BY_SUFFIX: Final = {
    ".docx": DOCX,
    ".pptx": PPTX,
    ".xlsx": XLSX,
    ".epub": EPUB,
    ".csv": CSV,
    ".tsv": TSV,
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
}
ZIPPED: Final = frozenset((DOCX, PPTX, XLSX, EPUB))
TEXTUAL: Final = frozenset((HTML, CSV, TSV, MARKDOWN, TEXT))
_MAX_CONTROLS: Final = 0.001
_CONTROLS: Final = frozenset((*range(9), *range(14, 27), 28, 29, 30, 31))


def detect_type(head: bytes, name: str, declared: str, takes_images: bool = False) -> str | None:
    """Returns the type of a file that starts with `head`, or None if no reader takes it."""
    suffix = PurePath(name).suffix.lower()
    found = detect_media_type(head, declared)
    if found == PDF or (takes_images and found in IMAGES):
        return found
    if head.startswith(b"PK\x03\x04"):
        return BY_SUFFIX.get(suffix) if suffix in BY_SUFFIX and BY_SUFFIX[suffix] in ZIPPED else _zipped(head)
    if found == BINARY and not looks_like_text(head):
        return None
    if found.startswith(("image/", "audio/", "video/", "font/")):
        return None
    if found.startswith("application/") and not looks_like_text(head):
        return None
    by_name = BY_SUFFIX.get(suffix, declared if declared in TEXTUAL else "")
    return HTML if found == HTML and by_name not in (MARKDOWN, CSV) else by_name if by_name in TEXTUAL else TEXT


def looks_like_text(head: bytes) -> bool:
    """Returns whether bytes may be text in some encoding: hardly any of them is a control character."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    return sum(byte in _CONTROLS for byte in head) <= len(head) * _MAX_CONTROLS


def _zipped(head: bytes) -> str | None:
    if b"mimetypeapplication/epub+zip" in head[:100]:
        return EPUB
    for mark, found in ((b"word/", DOCX), (b"ppt/", PPTX), (b"xl/", XLSX)):
        if mark in head:
            return found
    return None
