"""Patterns of event types, as routes, listeners and agents name what they take."""

from parlour_sdk.protocol.events import ALIASES


def covers(pattern: str, event_type: str) -> bool:
    """A pattern is a type, `namespace.*` or `*`."""
    pattern = ALIASES.get(pattern, pattern)
    return pattern in ("*", event_type) or (pattern.endswith(".*") and event_type.startswith(pattern[:-1]))
