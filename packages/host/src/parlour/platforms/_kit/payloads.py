"""Reads untrusted values of a platform's JSON, and reports a payload that can't be read as an event."""

import hashlib
import json
from typing import Any

from parlour.core.encoding import dumps
from parlour_sdk.protocol.platform_events import PlatformSpecific

Payload = dict[str, Any]
MALFORMED = "malformed"
MAX_PAYLOAD_CHARACTERS = 4000
UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, IndexError)
"""What decoding raises for a payload that does not match the platform's format; pydantic's errors are ValueErrors."""


def identifier(value: Any) -> str:
    """Returns an id as a string. Raises ValueError if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        raise ValueError("an id is a number or a text")
    return str(value)


def text(data: Payload, name: str) -> str:
    """Returns a string field, or an empty string."""
    value = data.get(name)
    return value if isinstance(value, str) else ""


def number(value: Any) -> int | None:
    """Returns a whole number that is not negative and exact in JSON, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None


def object_in(data: Payload, name: str) -> Payload:
    """Returns an object field, or an empty object."""
    value = data.get(name)
    return value if isinstance(value, dict) else {}


def objects_in(data: Payload, name: str) -> list[Payload]:
    """Returns the objects of a list field."""
    value = data.get(name)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def texts_in(data: Payload, name: str) -> list[str]:
    """Returns the strings of a list field."""
    value = data.get(name)
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def content_id(*parts: Any) -> str:
    """Returns an id that is the same for the same content, for events without an id of their own."""
    content = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(content.encode(errors="replace")).hexdigest()[:32]


def malformed_event(adapter: str, bot_id: str, payload: Any, problem: str) -> PlatformSpecific:
    """Returns the event `platform.{adapter}.malformed` for a payload that can't be read."""
    return PlatformSpecific(
        type=f"platform.{adapter}.{MALFORMED}",
        event_id=content_id(payload),
        timestamp=0,
        bot_id=bot_id,
        adapter_name=adapter,
        action=MALFORMED,
        data={"problem": problem, "payload": dumps(_in_order(payload))[:MAX_PAYLOAD_CHARACTERS]},
    )


def _in_order(payload: Any) -> Any:
    """Returns a payload whose fields are in the same order at each delivery."""
    return json.loads(json.dumps(payload, sort_keys=True, default=str))
