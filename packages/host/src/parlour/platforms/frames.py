"""Reads what a platform sends. JSON that only a lenient reader takes is mended; what is no object is Unreadable."""

import json
from typing import Any

from pydantic_core import from_json


class Unreadable(Exception):
    """The frame is not a JSON object."""


def read_frame(frame: str | bytes) -> dict[str, Any]:
    try:
        payload = from_json(frame, allow_inf_nan=False)
    except ValueError as error:
        payload = _leniently(frame, error)
    if not isinstance(payload, dict):
        raise Unreadable(f"a JSON object is expected, not {type(payload).__name__}")
    return payload


def _leniently(frame: str | bytes, strictly: ValueError) -> Any:
    """Half of a surrogate pair, which some implementations send for a cut emoji, becomes a replacement character."""
    try:
        return _mended(json.loads(frame, parse_constant=lambda name: None))
    except (ValueError, RecursionError):
        raise Unreadable(str(strictly)[:200]) from None


def _mended(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list():
            return [_mended(each) for each in value]
        case dict():
            return {_mended(name): _mended(each) for name, each in value.items()}
    return value
