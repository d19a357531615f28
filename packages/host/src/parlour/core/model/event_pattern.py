"""Patterns of event types, which routes, listeners and agents use to select events."""

from parlour_sdk.protocol.events import ALIASES


def pattern_matches(pattern: str, event_type: str) -> bool:
    """Returns whether a pattern (a type, `namespace.*` or `*`) matches the event type."""
    pattern = ALIASES.get(pattern, pattern)
    return pattern in ("*", event_type) or (pattern.endswith(".*") and event_type.startswith(pattern[:-1]))
