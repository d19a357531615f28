"""Measures the length of a text in the unit of its platform."""

from collections.abc import Callable

from parlour.core.platforms.manifest import TextUnit

Measure = Callable[[str], int]


def _utf16(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


MEASURES: dict[TextUnit, Measure] = {"characters": len, "utf16": _utf16, "bytes": _bytes}
