"""An EventListener handles events outside a run: methods marked with `@on` get each event as its own class."""

from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Protocol, TypeVar

from parlour_sdk.protocol.events import ALIASES

from ..values import dataclass

MARK = "__parlour_events__"
Function = TypeVar("Function", bound=Callable[..., Awaitable[None]])


@dataclass(frozen=True, slots=True)
class Subscription:
    """What one `@on` asks for."""

    pattern: str
    priority: int | None = None
    observe: bool = False


def on(event: str, *, priority: int | None = None, observe: bool = False) -> Callable[[Function], Function]:
    """Marks an `async def` for events of this type, `namespace.*` or `*`.

    Handlers with a higher priority come first; without one a handler has its listener's, which is 0 unless the
    listener's file says otherwise. One that observes also sees events that somebody else serves, and changes nothing.
    """

    def mark(function: Function) -> Function:
        setattr(function, MARK, (Subscription(event, priority, observe), *subscriptions(function)))
        return function

    return mark


def subscriptions(function: object) -> tuple[Subscription, ...]:
    marks: tuple[Subscription, ...] = getattr(function, MARK, ())
    return marks


class EventListener:
    """One instance serves the whole plugin process. Its handlers are `async def name(self, event, ctx)` with `@on`."""

    def _handlers(self) -> "dict[str, Handle]":
        """By name, in the order in which they are written, those of the bases first."""
        names = {name: None for base in reversed(type(self).__mro__) for name in vars(base)}
        return {name: getattr(self, name) for name in names if subscriptions(getattr(type(self), name, None))}


class Handle(Protocol):
    def __call__(self, event: Any, ctx: Any, /) -> Awaitable[None]: ...


@dataclass(frozen=True, slots=True)
class Handler:
    """One function and one event pattern that it asked for."""

    name: str
    pattern: str
    priority: int
    observe: bool
    call: Handle

    def wants(self, event_type: str) -> bool:
        pattern = ALIASES.get(self.pattern, self.pattern)
        return pattern in ("*", event_type) or (pattern.endswith(".*") and event_type.startswith(pattern[:-1]))


def handlers_of(listener: EventListener, name: str, priority: int = 0, observe: bool = False) -> Iterator[Handler]:
    """`priority` and `observe` are the listener's own, for handlers that have none."""
    for attribute, function in listener._handlers().items():
        for asked in subscriptions(function):
            place = priority if asked.priority is None else asked.priority
            shown = name if name == attribute else f"{name}.{attribute}"
            yield Handler(shown, asked.pattern, place, observe or asked.observe, function)
