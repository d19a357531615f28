"""Values as they come from a homeserver, which hands on what any client of any other server wrote."""

from typing import Any

NAME = "matrix"
DEEPEST = 64
Payload = dict[str, Any]


def mapping(value: Any) -> Payload:
    """An empty one for what is none."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def text(data: Payload, name: str) -> str:
    """Empty when there is none."""
    value = data.get(name)
    return value if isinstance(value, str) else ""


def number(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        return None
    return value


def too_deep(value: Any) -> bool:
    """Whether it nests deeper than can be kept."""
    layer = [value]
    for _ in range(DEEPEST):
        inner = (each.values() if isinstance(each, dict) else each for each in layer if isinstance(each, dict | list))
        layer = [each for values in inner for each in values]
        if not layer:
            return False
    return True


def required(data: Payload, name: str) -> str:
    """Raises ValueError when there is none."""
    value = data.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} is missing")
    return value
