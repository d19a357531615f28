"""Encodes and decodes the JSON of text columns."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import from_json, to_json


def dumps(value: Any) -> str:
    return to_json(value).decode()


def dumps_list(items: Sequence[Any]) -> str:
    """Encodes a list; an empty one, which is the usual case, costs nothing."""
    return dumps(items) if items else "[]"


def dumps_dict(values: Mapping[str, Any]) -> str:
    """Encodes an object; an empty one, which is the usual case, costs nothing."""
    return dumps(dict(values)) if values else "{}"


def loads(text: str) -> Any:
    return from_json(text)
