"""Reads values of the Bot API. Ids become strings without loss, and numbers again in requests."""

from typing import Any

from parlour.core.platforms.port import PlatformRefused

NAME = "telegram"
Payload = dict[str, Any]


def identifier(value: Any) -> str:
    """Returns an id as a string. Raises ValueError if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        raise ValueError("an id is a number or a text")
    return str(value)


def number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None


def text(data: Payload, name: str) -> str | None:
    value = data.get(name)
    return value if isinstance(value, str) and value else None


def object_in(data: Payload, name: str) -> Payload:
    """Returns an object field, or an empty object."""
    value = data.get(name)
    return value if isinstance(value, dict) else {}


def time_milliseconds(data: Payload, name: str = "date") -> int:
    """Returns a time in milliseconds. Raises ValueError if it is missing or out of range."""
    seconds = number(data.get(name))
    if seconds is None or seconds > 10**11:
        raise ValueError(f"{name} is no moment")
    return seconds * 1000


def native_id(name: str, value: str) -> int:
    """Converts an id for a request: Telegram's ids are numbers."""
    try:
        return int(value)
    except ValueError:
        reason = f"{name}: '{value[:60]}' is no id of Telegram; a whole number is expected"
        raise PlatformRefused(reason, permanent=True) from None


def native_chat_id(name: str, value: str) -> int | str:
    """Returns a chat id for a request, which may also be a public name such as @name."""
    return value if value.startswith("@") and len(value) > 1 else native_id(name, value)
