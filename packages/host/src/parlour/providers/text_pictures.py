"""Draws Markdown texts as pictures, for message policies that send long replies as pictures.

It needs Pillow, and a font of the system that has the characters of the text. A text that it can't draw readably is not
drawn, and is sent as a file.
"""

import asyncio
import importlib.util
import io
import re
import subprocess
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from parlour.core.delivery.rendering.layout import parse_layout
from parlour.core.delivery.rendering.plain import to_plain_text
from parlour_sdk.values import dataclass

SECONDS = 2.0
WIDTH = 800
MARGIN = 40
FONT_SIZE = 24
LINE_HEIGHT = 36
MAX_HEIGHT = 8000
"""Height of one picture in pixels; a longer text becomes several."""
MAX_PICTURES = 4
MAX_CHARACTERS = 40_000
INK, PAPER, CODE_PAPER = 32, 255, 238
"""Shades of grey."""
FIRST_WIDE = "\u2e80"
"""The first character of the scripts of East Asia, which break anywhere and need a font of their own."""
_TOKENS = re.compile(r"[^\S\n]+|[^\s\u2e80-\uffff\U00020000-\U0003ffff]+|.")
_WIDE_FONTS = ("*CJK*Regular*", "*SansSC*Regular*", "*SourceHan*Regular*", "*wqy*", "*DroidSansFallback*")
_FONT_FOLDERS = (Path("/usr/share/fonts"), Path("/usr/local/share/fonts"))

FontFinder = Callable[[str], str]
"""Returns the file of a font for a kind (`text`, `wide` or `code`); empty if there is none."""


def is_installed() -> bool:
    return importlib.util.find_spec("PIL") is not None


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    is_code: bool


class _Undrawable(Exception):
    """Raised for a text that would not be readable."""


@lru_cache(maxsize=3)
def find_font(kind: str) -> str:
    """Finds a font of the system by fontconfig, or in the usual folders."""
    query = {"text": ":lang=en:family=DejaVu Sans:style=Book", "wide": ":lang=zh-cn", "code": ":spacing=100"}[kind]
    try:
        listed = subprocess.run(
            ["fc-list", query, "file"], capture_output=True, text=True, timeout=SECONDS, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        listed = ""
    files = sorted(line.rstrip(": ") for line in listed.splitlines() if line.strip())
    plain = [file for file in files if not re.search(r"Bold|Italic|Oblique", file)]
    if plain or files or kind != "wide":
        return next(iter(plain or files), "")
    found = (
        str(file) for folder in _FONT_FOLDERS for name in _WIDE_FONTS for file in folder.rglob(f"{name}.[to]t[cf]")
    )
    return next(found, "")


class DrawnTexts:
    """Draws texts with Pillow in a thread. Implements the port `TextPictures`."""

    def __init__(self, fonts: FontFinder = find_font, seconds: float = SECONDS) -> None:
        self._fonts = fonts
        self._seconds = seconds

    async def draw(self, text: str) -> Sequence[bytes]:
        if len(text) > MAX_CHARACTERS or not is_installed():
            return ()
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.to_thread(_draw, text, self._fonts)
        except (_Undrawable, TimeoutError, OSError):
            return ()


def _draw(text: str, fonts: FontFinder) -> list[bytes]:
    """Returns the pictures. Raises _Undrawable or OSError."""
    from PIL import ImageFont

    def load(kind: str) -> Any:
        file = fonts(kind)
        return ImageFont.truetype(file, FONT_SIZE) if file else ImageFont.load_default(FONT_SIZE)

    parts = list(_parts(text))
    is_wide = any(each >= FIRST_WIDE for each in text)
    if is_wide and not fonts("wide"):
        raise _Undrawable
    font = load("wide" if is_wide else "text")
    code_font = font if any(each >= FIRST_WIDE for code, is_code in parts if is_code for each in code) else load("code")
    for part, is_code in parts:
        _require_readable(part, code_font if is_code else font)
    lines = [
        _Line(line, is_code)
        for part, is_code in parts
        for line in _wrap(part.expandtabs(4), code_font if is_code else font, WIDTH - 2 * MARGIN)
    ]
    per_picture = (MAX_HEIGHT - 2 * MARGIN) // LINE_HEIGHT
    pages = [lines[start : start + per_picture] for start in range(0, len(lines), per_picture)]
    if not 0 < len(pages) <= MAX_PICTURES:
        raise _Undrawable
    return [_page(page, font, code_font) for page in pages]


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yields the text without its marks, and code by itself."""
    position = 0
    for fence in parse_layout(text).fences:
        if before := to_plain_text(text[position : fence.start]).strip("\n"):
            yield before, False
        yield text[fence.body : fence.body_end].strip("\n"), True
        position = fence.end
    if rest := to_plain_text(text[position:]).strip("\n"):
        yield rest, False


def _require_readable(text: str, font: Any) -> None:
    """Raises _Undrawable if the font lacks letters of the text, or if its script needs more than one letter after the
    other.
    """
    missing = bytes(font.getmask("\ufffe"))
    for character in set(text):
        category = unicodedata.category(character)
        if unicodedata.bidirectional(character) in ("R", "AL") or category in ("Mn", "Mc"):
            raise _Undrawable
        if category[0] in "LN" and character > "~" and bytes(font.getmask(character)) == missing:
            raise _Undrawable


def _wrap(text: str, font: Any, width: int) -> Iterator[str]:
    """Breaks lines between words, between characters of East Asia, and within words that are longer than a line."""
    widths = lru_cache(maxsize=None)(font.getlength)
    for line in text.split("\n"):
        current, used = "", 0.0
        for token in _TOKENS.findall(line):
            for piece in (token,) if widths(token) <= width else token:
                if current and used + widths(piece) > width:
                    yield current.rstrip()
                    current, used = "", 0.0
                    if piece.isspace():
                        continue
                current, used = current + piece, used + widths(piece)
        yield current.rstrip()


def _page(lines: Sequence[_Line], font: Any, code_font: Any) -> bytes:
    from PIL import Image, ImageDraw

    image = Image.new("L", (WIDTH, 2 * MARGIN + LINE_HEIGHT * len(lines)), PAPER)
    drawing = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        top = MARGIN + number * LINE_HEIGHT
        if line.is_code:
            drawing.rectangle((MARGIN // 2, top, WIDTH - MARGIN // 2, top + LINE_HEIGHT), fill=CODE_PAPER)
        drawing.text((MARGIN, top), line.text, font=code_font if line.is_code else font, fill=INK)
    written = io.BytesIO()
    image.quantize(16).save(written, "PNG", optimize=True)
    return written.getvalue()
