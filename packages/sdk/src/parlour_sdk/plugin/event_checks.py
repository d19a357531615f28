"""Checks the event patterns of handlers, and whether the plugin's permissions include these events."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from parlour_sdk.components.event_listener import EventListener, iter_handlers
from parlour_sdk.protocol.platform_events import EVENTS, is_event_pattern

from . import errors
from .errors import SourceLocation
from .modules import locate


def require_event(place: SourceLocation, function: str, pattern: object) -> None:
    if not isinstance(pattern, str) or not is_event_pattern(pattern):
        raise errors.unknown_event(place, function, str(pattern), EVENTS)


def pattern_warnings(place: SourceLocation, patterns: Iterable[str]) -> Iterator[str]:
    """Yields a warning for each unknown pattern; no error, since a newer Host may know more events than this SDK."""
    for pattern in patterns:
        if not is_event_pattern(pattern):
            yield errors.unknown_pattern(place, pattern, EVENTS)


def handler_warnings(name: str, listener: EventListener, asked: list[str], otherwise: Path) -> Iterator[str]:
    """Yields a warning for each handler that is never called because the plugin does not ask for its events."""
    for handler in iter_handlers(listener, name):
        if not any(_covers(each, handler.pattern) for each in asked):
            yield errors.event_not_permitted(
                locate(handler.call, SourceLocation(otherwise)), handler.name, handler.pattern
            )


def _covers(asked: str, pattern: str) -> bool:
    return asked in ("*", pattern) or (asked.endswith(".*") and pattern.startswith(asked[:-1]))
