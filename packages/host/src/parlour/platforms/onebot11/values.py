"""Values as OneBot implementations send them, some of which write numbers as texts. Ids become strings losslessly."""

from typing import Any

from parlour.core.platforms.port import PlatformRefused

LONGEST_ID = 512
"""Of what the Host keeps and finds again."""


def identifier(value: Any) -> str:
    """Raises ValueError when it is no id."""
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        raise ValueError("an id is a number or a text")
    told = str(value)
    if len(told) > LONGEST_ID:
        raise ValueError(f"an id has at most {LONGEST_ID} characters")
    return told


def number(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if 0 <= value < 2**53 else None
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 16 else None


def text(data: dict[str, Any], name: str) -> str | None:
    value = data.get(name)
    return value if isinstance(value, str) and value else None


def native_id(name: str, value: str) -> int:
    """For a request: OneBot's ids are numbers."""
    try:
        return int(value)
    except ValueError:
        reason = f"{name}: '{value[:60]}' is no id of OneBot; a whole number is expected"
        raise PlatformRefused(reason, permanent=True) from None
