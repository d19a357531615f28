"""Defines EventListener, the component that handles events outside a run.

Methods marked with `@on` receive each event as an instance of its own class.
"""

from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Protocol, TypeVar

from parlour_sdk.protocol.events import ALIASES, NAMED_EVENTS

from ..values import dataclass

SUBSCRIPTIONS_ATTRIBUTE = "__parlour_events__"
Function = TypeVar("Function", bound=Callable[..., Awaitable[None]])


@dataclass(frozen=True, slots=True)
class Subscription:
    """The arguments of one `@on`."""

    pattern: str
    priority: int | None = None
    observe: bool = False


def on(event: str, *, priority: int | None = None, observe: bool = False) -> Callable[[Function], Function]:
    """Subscribes an `async def` to events of this type, `namespace.*` or `*`.

    Handlers with a higher priority run first; the default is the listener's priority, which is 0 unless the listener's
    file sets it. An observing handler also receives events that another handler serves, and can't change them.
    """

    def mark(function: Function) -> Function:
        setattr(function, SUBSCRIPTIONS_ATTRIBUTE, (Subscription(event, priority, observe), *subscriptions(function)))
        return function

    return mark


def subscriptions(function: object) -> tuple[Subscription, ...]:
    marks: tuple[Subscription, ...] = getattr(function, SUBSCRIPTIONS_ATTRIBUTE, ())
    return marks


class EventListener:
    """One instance serves the whole plugin process. Its handlers are `async def name(self, event, ctx)` with `@on`."""

    def _handlers(self) -> "dict[str, HandlerFunction]":
        """Returns the handlers by name in the order of their definition, those of base classes first."""
        names = {name: None for base in reversed(type(self).__mro__) for name in vars(base)}
        return {name: getattr(self, name) for name in names if subscriptions(getattr(type(self), name, None))}


class HandlerFunction(Protocol):
    def __call__(self, event: Any, ctx: Any, /) -> Awaitable[None]: ...


@dataclass(frozen=True, slots=True)
class Handler:
    """A function and one event pattern that it is subscribed to."""

    name: str
    pattern: str
    priority: int
    observe: bool
    call: HandlerFunction

    def matches(self, event_type: str) -> bool:
        pattern = ALIASES.get(self.pattern, self.pattern)
        if event_type in NAMED_EVENTS:
            return pattern == event_type
        return pattern in ("*", event_type) or (pattern.endswith(".*") and event_type.startswith(pattern[:-1]))


def iter_handlers(listener: EventListener, name: str, priority: int = 0, observe: bool = False) -> Iterator[Handler]:
    """Yields one handler per subscription; `priority` and `observe` are the listener's, used as defaults."""
    for attribute, function in listener._handlers().items():
        for subscription in subscriptions(function):
            handler_priority = priority if subscription.priority is None else subscription.priority
            full_name = name if name == attribute else f"{name}.{attribute}"
            yield Handler(full_name, subscription.pattern, handler_priority, observe or subscription.observe, function)
