"""Checks the event patterns of handlers, and whether the plugin's permissions include these events."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from parlour_sdk.components.event_listener import EventListener, iter_handlers
from parlour_sdk.protocol.events import NAMED_EVENTS
from parlour_sdk.protocol.platform_events import EVENTS, is_event_pattern

from . import errors
from .errors import SourceLocation
from .modules import locate


def require_event(location: SourceLocation, function: str, pattern: object) -> None:
    if not isinstance(pattern, str) or not is_event_pattern(pattern):
        raise errors.unknown_event(location, function, str(pattern), EVENTS)


def pattern_warnings(location: SourceLocation, patterns: Iterable[str]) -> Iterator[str]:
    """Yields a warning for each unknown pattern; no error, since a newer Host may know more events than this SDK."""
    for pattern in patterns:
        if not is_event_pattern(pattern):
            yield errors.unknown_pattern(location, pattern, EVENTS)


def handler_warnings(name: str, listener: EventListener, requested: list[str], otherwise: Path) -> Iterator[str]:
    """Yields a warning for each handler that is never called because the plugin does not ask for its events."""
    for handler in iter_handlers(listener, name):
        if not any(_covers(each, handler.pattern) for each in requested):
            yield errors.event_not_permitted(
                locate(handler.call, SourceLocation(otherwise)), handler.name, handler.pattern
            )


def _covers(requested: str, pattern: str) -> bool:
    if pattern in NAMED_EVENTS:
        return requested == pattern
    return requested in ("*", pattern) or (requested.endswith(".*") and pattern.startswith(requested[:-1]))
