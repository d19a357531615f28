"""JSON as it is kept in text columns."""

from typing import Any

from pydantic_core import from_json, to_json


def dumps(value: Any) -> str:
    return to_json(value).decode()


def loads(text: str) -> Any:
    return from_json(text)
