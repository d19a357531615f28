"""Builds messages for invalid fields of a request. A message never repeats the value, which may be a secret, only its
shape."""

from collections.abc import Mapping, Sequence
from typing import Any

from parlour.core.json_kinds import kind_name

_PARAMETER_LOCATIONS = ("query", "path", "header", "cookie")
_OBJECT_ERROR_TYPES = ("model_attributes_type", "model_type", "dict_type", "dataclass_type")
_PATTERN_MESSAGES: dict[str, str] = {}
"""Messages by regular expression. Filled while schema modules are imported, and constant afterwards."""
NOT_JSON_MESSAGE = "send it as JSON, with the header 'Content-Type: application/json'"
UNREADABLE_BODY_MESSAGE = "the body is not JSON: it has bytes that are no UTF-8, or is nested too deep"


def register_pattern(expression: str, message: str) -> str:
    """Registers the message for values that do not match this regular expression, and returns the expression."""
    _PATTERN_MESSAGES[expression] = message
    return expression


def field_errors(errors: Sequence[Any], body: Any = None) -> list[dict[str, str]]:
    """Returns one entry per field. `body` is the request's body, if it is known."""
    messages_by_field: dict[str, list[str]] = {}
    for error in errors:
        messages = messages_by_field.setdefault(_field(error, body), [])
        if (message := _message(error)) not in messages:
            messages.append(message)
    return [{"field": field, "message": ", or: ".join(messages)} for field, messages in messages_by_field.items()]


def _field(error: Mapping[str, Any], body: Any) -> str:
    location = list(error["loc"])
    if error["type"] == "json_invalid" or location == ["body"]:
        return "body"
    if location and location[0] in _PARAMETER_LOCATIONS:
        return ".".join(map(str, location))
    steps = location[1:] if location and location[0] == "body" else location
    return (
        ".".join(map(str, steps if body is None else _steps_in_body(steps, body, error["type"] == "missing"))) or "body"
    )


def _steps_in_body(location: Sequence[str | int], body: Any, missing: bool) -> list[str | int]:
    """Returns the steps of a location that exist in the body. The others name a variant of a union, which the client
    did not write."""
    steps: list[str | int] = []
    for index, step in enumerate(location):
        if _has(body, step):
            body = body[step]
            steps.append(step)
        elif missing and index == len(location) - 1:
            steps.append(step)
    return steps


def _has(value: Any, step: str | int) -> bool:
    return step in (range(len(value)) if isinstance(value, list) else value if isinstance(value, dict) else ())


def _message(error: Mapping[str, Any]) -> str:
    kind, value = error["type"], error.get("input")
    if kind == "json_invalid":
        return _json_error(error)
    if kind in _OBJECT_ERROR_TYPES:
        return NOT_JSON_MESSAGE if isinstance(value, bytes) else f"Input should be an object, not {kind_name(value)}"
    if kind == "missing" and list(error["loc"]) == ["body"]:
        return NOT_JSON_MESSAGE
    if kind == "extra_forbidden":
        return "there is no such field"
    if kind == "string_pattern_mismatch" and (pattern_message := _PATTERN_MESSAGES.get(error["ctx"]["pattern"])):
        return pattern_message
    message = str(error["msg"])
    return f"{message}, not {kind_name(value)}" if kind.endswith("_type") and kind != "value_type" else message


def _json_error(error: Mapping[str, Any]) -> str:
    reason = str(error.get("ctx", {}).get("error", "")).rstrip(".") or "it can't be read"
    position = error["loc"][-1] if error["loc"] else None
    return f"this is not JSON: {reason}" + (f" at character {position}" if isinstance(position, int) else "")
