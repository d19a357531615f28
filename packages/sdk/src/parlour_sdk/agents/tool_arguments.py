"""Reads the arguments of a model's tool calls; arguments that are almost JSON are repaired where that is safe."""

import ast
import json
import re
from typing import Any

_FENCE = re.compile(r"^\s*```[a-z]*\s*|\s*```\s*$", re.I)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
CONTEXT_CHARACTERS = 20


class InvalidArguments(Exception):
    """Raised when arguments are no JSON object; the message tells the model where and why."""


def parse_arguments(arguments: Any) -> dict[str, Any]:
    """Returns the arguments of a call as an object. Raises InvalidArguments."""
    if arguments is None:
        return {}
    if isinstance(arguments, str):
        arguments = _parse(arguments)
    if not isinstance(arguments, dict):
        raise InvalidArguments(f"The arguments must be a JSON object, not {_kind(arguments)}.")
    return arguments


def _parse(text: str) -> Any:
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
    except ValueError as error:
        value = _repaired(text)
        if value is None:
            raise InvalidArguments(_position(text, error)) from error
    if isinstance(value, str):  # some models encode the object twice
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _repaired(text: str) -> dict[str, Any] | None:
    """Returns the object of a text with a code fence, a trailing comma, or in Python's notation; None if it is neither.

    Nothing is added to a text that was cut off: its values could be wrong.
    """
    inner = _TRAILING_COMMA.sub(r"\1", _FENCE.sub("", text).strip())
    for parse in (json.loads, ast.literal_eval):
        try:
            value = parse(inner)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(value, dict) and all(isinstance(name, str) for name in value):
            return value
    return None


def _position(text: str, error: ValueError) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return f"The arguments are not JSON: {error}."
    start, end = max(0, error.pos - CONTEXT_CHARACTERS), error.pos + CONTEXT_CHARACTERS
    return (
        f"The arguments are not a JSON object: {error.msg} at character {error.pos}, near {text[start:end]!r}. "
        "Call the tool again with correct arguments."
    )


def _kind(value: Any) -> str:
    return {list: "a list", str: "a text", bool: "true or false"}.get(type(value), "a number")
