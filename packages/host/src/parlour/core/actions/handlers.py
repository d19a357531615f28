"""Defines the handlers of actions and the groups that declare them."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from typing import Any, Protocol

from pydantic import BaseModel

from parlour.core.runs.caller import ActionCaller

Handler = Callable[[ActionCaller, Any], Awaitable[BaseModel]] | Callable[[ActionCaller, Any], AsyncGenerator[Any, None]]
"""Implementation of one action: a coroutine function, or an async generator function for a stream."""


class ActionGroup(Protocol):
    """Actions of one subject, such as state or models, that share their dependencies."""

    def handlers(self) -> Mapping[str, Handler]:
        """Returns the handlers by the names that the table of Host actions has for them."""
        ...


def collect_handlers(groups: Iterable[ActionGroup]) -> dict[str, Handler]:
    """Joins the handlers of all groups. Raises ValueError if two groups declare the same action."""
    handlers: dict[str, Handler] = {}
    for group in groups:
        group_handlers = group.handlers()
        if duplicates := handlers.keys() & group_handlers.keys():
            raise ValueError(f"actions with two handlers: {duplicates}")
        handlers.update(group_handlers)
    return handlers
