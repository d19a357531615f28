"""The decisions of the router: the handler of an event, with its reason."""

from typing import ClassVar

from parlour.core.config.routes import Route
from parlour.core.model.agent import Binding
from parlour.core.model.ids import PluginId
from parlour.core.model.reasons import Reason
from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class ToAgent:
    """Decision that an agent answers the event."""

    handler_type: ClassVar[str] = "agent"

    binding: Binding


@dataclass(frozen=True, slots=True)
class ToHandler:
    """Decision that the handler of a route receives the event with the route's configuration."""

    route: Route
    reason: str

    @property
    def handler_type(self) -> str:
        return self.route.handler_type


@dataclass(frozen=True, slots=True)
class ToListeners:
    """Decision that the event goes to the listeners of the named plugins, or of all plugins if none are named.

    `reason` says why, or why it goes to no other handler.
    """

    handler_type: ClassVar[str] = "plugin"
    plugins: tuple[PluginId, ...]
    reason: str
    by_route: bool = False
    """True if a route decided this."""

    @property
    def no_listener_reason(self) -> str:
        """Explanation for an event that has no listeners."""
        if not self.by_route:
            return self.reason
        listeners = f"of {', '.join(self.plugins)} none" if self.plugins else "no plugin"
        return f"{self.reason}, and {listeners} listens to it"


@dataclass(frozen=True, slots=True)
class Drop:
    """Decision of a route that the event is not handled."""

    handler_type: ClassVar[str] = "drop"

    reason: str
    silence: Reason | None = None
    """Reason of a message policy that leaves the event unanswered."""


@dataclass(frozen=True, slots=True)
class Misconfigured:
    """Decision that a configuration error prevents an answer. It is reported, never dropped silently."""

    reason: str


RouteDecision = ToAgent | ToHandler | ToListeners | Drop | Misconfigured
