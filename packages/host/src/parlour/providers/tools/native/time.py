"""Tool that returns the current time of a time zone."""

from datetime import UTC, datetime, tzinfo
from typing import Any

from parlour.core.model.ports import Clock
from parlour.core.model.providers import CallContext
from parlour_sdk.protocol.tools import ToolOutcome

from ..source import OfferedTool, error_outcome, text_outcome
from .tools import PROVIDER


class TimeNow:
    definition = OfferedTool(
        "time.now",
        "native",
        PROVIDER,
        "Tells the current date, weekday and time, in UTC or in the time zone that is named.",
        {
            "type": "object",
            "properties": {
                "zone": {
                    "type": "string",
                    "description": "IANA name, such as Europe/Berlin. UTC if absent.",
                }
            },
            "additionalProperties": False,
        },
        read_only=True,
    )

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def call(self, context: CallContext, parameters: dict[str, Any]) -> ToolOutcome:
        name = parameters.get("zone", "UTC").strip()
        zone = _zone(name)
        if zone is None:
            return error_outcome(f"zone: there is no time zone '{name[:100]}'; name one such as UTC or Europe/Berlin")
        now = datetime.fromtimestamp(self._clock.now() / 1000, zone)
        return text_outcome(f"{now.isoformat(timespec='seconds')} ({now:%A}, {name})")


def _zone(name: str) -> tzinfo | None:
    if name.upper() in ("", "UTC", "Z"):
        return UTC
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown name, a path outside the zone folder, or a folder of zones
        return None
