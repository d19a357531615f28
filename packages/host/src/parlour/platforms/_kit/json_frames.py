"""Parses the JSON frames that a platform sends.

JSON that only a lenient parser accepts is repaired; anything but an object raises FrameUnreadable.
"""

import json
import math
import re
from typing import Any

from pydantic_core import from_json

MAX_DEPTH = 100
"""Maximum nesting depth.

Deeper values become null, because JSON can be parsed deeper than it can be stored and parsed again.
"""
MAX_INTEGER_DIGITS = 1000
"""Maximum number of digits of an integer; a longer one becomes null."""
_NESTING = re.compile(rb'"(?:[^"\\]|\\.)*+"|[{}\[\]]', re.DOTALL)
_HUGE = re.compile(rb"[:,\[]\s*-?\d[\d.]*[eE]\+?\d{3}")


class FrameUnreadable(Exception):
    """Raised when a frame is not a JSON object."""


def read_frame(frame: str | bytes) -> dict[str, Any]:
    try:
        payload = from_json(frame, allow_inf_nan=False)
    except ValueError as error:
        payload = _leniently(frame, error)
    else:
        payload = _repair(payload) if _needs_repair(frame, payload) else payload
    if not isinstance(payload, dict):
        raise FrameUnreadable(f"a JSON object is expected, not {type(payload).__name__}")
    return payload


def _needs_repair(frame: str | bytes, payload: Any) -> bool:
    """Returns whether the frame nests too deep or may contain an infinite number. Almost no frame does."""
    data = frame.encode() if isinstance(frame, str) else frame
    if _HUGE.search(data):
        return True
    return data.count(b"[") + data.count(b"{") > MAX_DEPTH and _deeper(payload, MAX_DEPTH)


def _deeper(value: Any, than: int) -> bool:
    if not isinstance(value, list | dict):
        return False
    children = value.values() if isinstance(value, dict) else value
    return not than or any(_deeper(each, than - 1) for each in children)


def _leniently(frame: str | bytes, strictly: ValueError) -> Any:
    """Parses with the lenient parser.

    Half of a surrogate pair, which some implementations send for a cut emoji, becomes a replacement character.
    """
    try:
        return _repair(json.loads(_drop_deep_values(frame), parse_constant=lambda name: None, parse_int=_integer))
    except (ValueError, RecursionError):
        raise FrameUnreadable(str(strictly)[:200]) from None


def _drop_deep_values(frame: str | bytes) -> bytes:
    """Replaces values that nest too deep for a parser with null, so that no event can make its frame unreadable."""
    content = frame.encode(errors="surrogatepass") if isinstance(frame, str) else frame
    pieces: list[bytes] = []
    depth, start = 0, 0
    for match in _NESTING.finditer(content):
        mark = match[0]
        if mark in (b"{", b"["):
            depth += 1
            if depth == MAX_DEPTH + 1:
                pieces += [content[start : match.start()], b"null"]
        elif mark in (b"}", b"]"):
            if depth == MAX_DEPTH + 1:
                start = match.end()
            depth -= 1
    if depth <= MAX_DEPTH:
        pieces.append(content[start:])
    return b"".join(pieces)


def _integer(digits: str) -> int | None:
    return int(digits) if len(digits) <= MAX_INTEGER_DIGITS else None


def _repair(value: Any, remaining_depth: int = MAX_DEPTH) -> Any:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case float() if not math.isfinite(value):
            return None
        case list() | dict() if not remaining_depth:
            return None
        case list():
            return [_repair(each, remaining_depth - 1) for each in value]
        case dict():
            return {_repair(name): _repair(each, remaining_depth - 1) for name, each in value.items()}
    return value
