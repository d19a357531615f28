"""Reads values of OneBot implementations, some of which write numbers as strings. Ids become strings without loss."""

import re
from typing import Any

from parlour.core.json_kinds import kind_name
from parlour.core.platforms.port import PlatformRefused

WHOLE = re.compile(r"-?[0-9]{1,20}")
MAX_ID_LENGTH = 512
"""Maximum length of an id that the Host stores and looks up."""


def identifier(value: Any, name: str = "id") -> str:
    """Returns an id as a string. Raises ValueError, which names the field, if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"{name}: a whole number or a text is expected, not {kind_name(value)}")
    told = str(value)
    if not 0 < len(told) <= MAX_ID_LENGTH:
        raise ValueError(f"{name}: an id of 1 to {MAX_ID_LENGTH} characters is expected, not of {len(told)}")
    return told


def required_id(data: dict[str, Any], name: str) -> str:
    """Returns the id in a field. Raises KeyError if it is missing, and ValueError if it is no id."""
    return identifier(data[name], name)


def number(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if 0 <= value < 2**53 else None
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 16 else None


def milliseconds(told: Any) -> int | None:
    """Converts a time to milliseconds. OneBot uses seconds; a few implementations use milliseconds."""
    time = number(told) if isinstance(told, str) else told
    if isinstance(time, bool) or not isinstance(time, int | float) or not 0 <= time < 10**14:
        return None
    return int(time) if time > 10**11 else int(time * 1000)


def text(data: dict[str, Any], name: str) -> str | None:
    value = data.get(name)
    return value if isinstance(value, str) and value else None


def native_id(name: str, value: str) -> int:
    """Converts an id for a request: OneBot's ids are numbers."""
    if WHOLE.fullmatch(value):
        return int(value)
    reason = f"{name}: '{value[:60]}' is no id of OneBot; a whole number is expected"
    raise PlatformRefused(reason, permanent=True)
