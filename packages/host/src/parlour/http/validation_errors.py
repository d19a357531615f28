"""Builds messages for invalid fields of a request. A message never repeats the value, which may be a secret, only its
shape."""

from collections.abc import Mapping, Sequence
from typing import Any

from parlour.core.json_kinds import kind_name

_PARAMETER_LOCATIONS = ("query", "path", "header", "cookie")
_OBJECT_ERROR_TYPES = ("model_attributes_type", "model_type", "dict_type", "dataclass_type")
_PATTERN_MESSAGES: dict[str, str] = {}
NOT_JSON_MESSAGE = "send it as JSON, with the header 'Content-Type: application/json'"
UNREADABLE_BODY_MESSAGE = "the body is not JSON: it has bytes that are no UTF-8, or is nested too deep"


def register_pattern(expression: str, words: str) -> str:
    """Registers the message for values that do not match this regular expression, and returns the expression."""
    _PATTERN_MESSAGES[expression] = words
    return expression


def field_errors(errors: Sequence[Any], body: Any = None) -> list[dict[str, str]]:
    """Returns one entry per field. `body` is the request's body, if it is known."""
    told: dict[str, list[str]] = {}
    for error in errors:
        messages = told.setdefault(_field(error, body), [])
        if (message := _message(error)) not in messages:
            messages.append(message)
    return [{"field": field, "message": ", or: ".join(messages)} for field, messages in told.items()]


def _field(error: Mapping[str, Any], body: Any) -> str:
    where = list(error["loc"])
    if error["type"] == "json_invalid" or where == ["body"]:
        return "body"
    if where and where[0] in _PARAMETER_LOCATIONS:
        return ".".join(map(str, where))
    way = where[1:] if where and where[0] == "body" else where
    return ".".join(map(str, way if body is None else _steps_in_body(way, body, error["type"] == "missing"))) or "body"


def _steps_in_body(way: Sequence[str | int], body: Any, missing: bool) -> list[str | int]:
    """Returns the steps of a location that exist in the body. The others name a variant of a union, which the client
    did not write."""
    found: list[str | int] = []
    for place, step in enumerate(way):
        if _has(body, step):
            body = body[step]
            found.append(step)
        elif missing and place == len(way) - 1:
            found.append(step)
    return found


def _has(value: Any, step: str | int) -> bool:
    return step in (range(len(value)) if isinstance(value, list) else value if isinstance(value, dict) else ())


def _message(error: Mapping[str, Any]) -> str:
    kind, given = error["type"], error.get("input")
    if kind == "json_invalid":
        return _json_error(error)
    if kind in _OBJECT_ERROR_TYPES:
        return NOT_JSON_MESSAGE if isinstance(given, bytes) else f"Input should be an object, not {kind_name(given)}"
    if kind == "missing" and list(error["loc"]) == ["body"]:
        return NOT_JSON_MESSAGE
    if kind == "extra_forbidden":
        return "there is no such field"
    if kind == "string_pattern_mismatch" and (words := _PATTERN_MESSAGES.get(error["ctx"]["pattern"])):
        return words
    said = str(error["msg"])
    return f"{said}, not {kind_name(given)}" if kind.endswith("_type") and kind != "value_type" else said


def _json_error(error: Mapping[str, Any]) -> str:
    reason = str(error.get("ctx", {}).get("error", "")).rstrip(".") or "it can't be read"
    place = error["loc"][-1] if error["loc"] else None
    return f"this is not JSON: {reason}" + (f" at character {place}" if isinstance(place, int) else "")
