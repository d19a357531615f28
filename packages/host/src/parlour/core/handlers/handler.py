"""The port of handlers, and the registry of those that a Host has. There is one module per handler type.

A new type is a module here, a line in `app/core_handlers.py`, its form in `http/bots/handler_types.py` and on the
page, and its names in the locales of the page.
"""

from collections.abc import Iterable
from typing import Any, ClassVar, Protocol, TypeVar

from parlour.core.config.routes import Route
from parlour.core.model.event import EventEnvelope
from parlour.core.routing.decisions import RouteDecision
from parlour.core.runs.lane_result import LaneResult
from parlour.core.runs.session import QueuedEvent

Decision = TypeVar("Decision", contravariant=True)


class EventHandler(Protocol[Decision]):
    """Handles the events of routes with one handler type."""

    type: ClassVar[str]
    """Handler type, as routes name it."""
    answers_by_agent: ClassVar[bool]
    """Whether the answer comes from an agent. A default agent of the chat or sender may go before such a route."""

    def resolve(self, event: EventEnvelope, route: Route, skipped_routes: str) -> RouteDecision:
        """Returns the decision of a route that matched the event. `skipped_routes` describes the routes before it."""
        ...

    async def handle(self, entry: QueuedEvent, decision: Decision) -> LaneResult:
        """Handles the event at its turn. It is completed, or comes back with the result."""
        ...


Handlers = dict[str, EventHandler[Any]]
"""Handlers by their types."""


def by_type(handlers: Iterable[EventHandler[Any]]) -> Handlers:
    """Builds the registry of handlers. Raises ValueError if two have the same type."""
    registry: Handlers = {}
    for handler in handlers:
        if registry.setdefault(handler.type, handler) is not handler:
            raise ValueError(handler.type)
    return registry
