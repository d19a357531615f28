"""Response schemas of bots, their routes and the result of a dry run."""

from typing import Any, Literal

from typing_extensions import TypedDict

from parlour.core.platforms.port import ConnectionState

from ..responses import Id, TimestampMs
from .handler_types import HandlerType

BindingScope = Literal["thread", "conversation", "channel", "actor", "bot", "workspace"]


class BotStatus(TypedDict):
    state: ConnectionState
    since: TimestampMs | None
    last_error: str | None
    """In words, with what to do about it."""


class BotResponse(TypedDict):
    bot_id: Id
    name: str
    adapter: str
    """Of GET /adapters."""
    adapter_config: dict[str, Any]
    """Without secrets."""
    secrets_set: list[str]
    """Which secrets there are."""
    enabled: bool
    keeps_heard_messages: bool
    """Messages of groups that don't address the bot are kept for its agents."""
    status: BotStatus


class RouteResponse(TypedDict):
    route_id: str
    event_type: str
    handler_type: HandlerType
    handler_config: dict[str, Any]
    """Secrets of a webhook are masked; `secret_set` says whether there is one to sign with."""
    filters: dict[str, Any]
    enabled: bool
    priority: int
    description: str


class DryRunStep(TypedDict):
    kind: Literal["route", "default", "outcome"]
    """A route, the default agent, or what comes of it."""
    name: str
    """Of the route, or the default agent's scope."""
    code: str
    """By which others say it in another language, with these values."""
    values: dict[str, Any]
    text: str
    """The same in words."""


class DryRun(TypedDict):
    route: RouteResponse | None
    """The one that takes the event; null when none does, and listeners of plugins or a default agent hear of it."""
    index: int | None
    """Its place in the list."""
    handler_type: HandlerType
    agent_id: Id | None
    """Who would answer."""
    scope: BindingScope | None
    """Whose claim that is: `bot` is a route's, the others are default agents'."""
    reasons: list[str]
    """What each route that was looked at said, then the default agent, and what comes of it."""
    steps: list[DryRunStep]
    """The same, for those who say it in another language."""
