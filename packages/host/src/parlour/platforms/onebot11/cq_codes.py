"""Converts messages between CQ strings such as `hello[CQ:at,qq=1]` and segments, including their escapes."""

import re
from typing import Any

Segment = dict[str, Any]

CODE_PREFIX = "[CQ:"
_CODE = re.compile(r"\[CQ:([A-Za-z0-9_.-]+)((?:,[^,\[\]]*)*)\]")
_ESCAPED = re.compile(r"&(?:amp|#91|#93|#44);")
_MEANT = {"&amp;": "&", "&#91;": "[", "&#93;": "]", "&#44;": ","}


def parse(text: str) -> list[Segment]:
    """Parses a CQ string. Anything but a well-formed code is text."""
    segments: list[Segment] = []
    end = 0
    for found in _CODE.finditer(text):
        _add_text(segments, text[end : found.start()])
        segments.append({"type": found[1], "data": _data(found[2])})
        end = found.end()
    _add_text(segments, text[end:])
    return segments


def format_segments(segments: list[Segment]) -> str:
    return "".join(_formatted(segment) for segment in segments)


def _formatted(segment: Segment) -> str:
    data = segment.get("data") or {}
    if segment["type"] == "text":
        return escape(str(data.get("text", "")))
    values = "".join(f",{name}={escape(_word(value), comma=True)}" for name, value in data.items() if value is not None)
    return f"[CQ:{segment['type']}{values}]"


def escape(text: str, comma: bool = False) -> str:
    text = text.replace("&", "&amp;").replace("[", "&#91;").replace("]", "&#93;")
    return text.replace(",", "&#44;") if comma else text


def unescape(text: str) -> str:
    return _ESCAPED.sub(lambda found: _MEANT[found[0]], text) if "&" in text else text


def _add_text(segments: list[Segment], text: str) -> None:
    if text:
        segments.append({"type": "text", "data": {"text": unescape(text)}})


def _data(parameters: str) -> dict[str, str]:
    pairs = (parameter.partition("=") for parameter in parameters.split(",")[1:])
    return {name: unescape(value) for name, _, value in pairs if name}


def _word(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
