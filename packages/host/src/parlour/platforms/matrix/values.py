"""Reads untrusted values of a homeserver's JSON, which relays what clients of any other server wrote."""

from typing import Any

NAME = "matrix"
MAX_DEPTH = 64
Payload = dict[str, Any]


def mapping(value: Any) -> Payload:
    """Returns the value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def text(data: Payload, name: str) -> str:
    """Returns a string field, or an empty string."""
    value = data.get(name)
    return value if isinstance(value, str) else ""


def number(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        return None
    return value


def too_deep(value: Any) -> bool:
    """Returns whether a value nests deeper than can be stored."""
    layer = [value]
    for _ in range(MAX_DEPTH):
        children = (
            each.values() if isinstance(each, dict) else each for each in layer if isinstance(each, dict | list)
        )
        layer = [each for values in children for each in values]
        if not layer:
            return False
    return True


def required(data: Payload, name: str) -> str:
    """Returns a string field. Raises ValueError if it is missing or empty."""
    value = data.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} is missing")
    return value
