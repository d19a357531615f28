"""Repository of routes: event patterns of a bot, and their handlers."""

from collections.abc import Iterable
from dataclasses import field, replace
from typing import Any

from parlour.core.encoding import dumps, loads
from parlour.core.journal import ANY, Delete, Insert, Journal, Select, Statement, Unit, where
from parlour.core.model import regex_budget
from parlour.core.model.agent import Agent
from parlour.core.model.event_pattern import pattern_matches
from parlour.core.model.ids import NO_ROUTE, BotId, RouteId
from parlour.core.model.ports import Ids
from parlour.core.store.tables import ROUTES
from parlour_sdk.values import dataclass

FIRST_ROUTE_DESCRIPTION = "made with the bot"


@dataclass(frozen=True, slots=True)
class Route:
    """A rule of a bot that assigns events to a handler. `event_type` is a type, `namespace.*` or `*`."""

    event_type: str
    handler_type: str
    """Type of the handler; `http/bots/handler_types.py` lists those that routes may name."""
    handler_config: dict[str, Any] = field(default_factory=dict)
    enabled: bool = True
    priority: int = 0
    description: str = ""
    filters: dict[str, Any] = field(default_factory=dict)
    """Filters by name; all must match."""
    route_id: RouteId = NO_ROUTE

    def matches(self, event_type: str) -> bool:
        return pattern_matches(self.event_type, event_type)

    @property
    def specificity(self) -> int:
        if self.event_type == "*":
            return 0
        return self.event_type.count(".") if self.event_type.endswith(".*") else 100

    @property
    def label(self) -> str:
        """Description of the route for messages to operators."""
        return f"route '{self.event_type}'" + (f" ({self.description})" if self.description else "")


class RouteRepository:
    """Routes of all bots, cached in memory and written through."""

    def __init__(self, journal: Journal, ids: Ids) -> None:
        self._journal = journal
        self._ids = ids
        self._routes: dict[BotId, list[Route]] = {}
        self._match_order: dict[BotId, list[Route]] = {}

    async def load(self) -> None:
        routes: dict[BotId, list[Route]] = {}
        for row in await self._journal.read(Select(ROUTES, order=("bot_id", "position"))):
            routes.setdefault(row["bot_id"], []).append(Route(**loads(row["definition"]), route_id=row["route_id"]))
        self._routes, self._match_order = {}, {}
        for bot_id, bot_routes in routes.items():
            self.cache(bot_id, bot_routes)

    def in_user_order(self, bot_id: BotId) -> list[Route]:
        """Returns a bot's routes in the order that the operator gave them."""
        return self._routes.get(bot_id, [])

    def in_match_order(self, bot_id: BotId) -> list[Route]:
        """Returns a bot's routes in the order in which they are matched."""
        return self._match_order.get(bot_id, [])

    def with_ids(self, routes: Iterable[Route]) -> list[Route]:
        """Returns the routes, each with a unique id; existing ids are kept."""
        seen: set[str] = set()
        result = []
        for route in routes:
            new = not route.route_id or route.route_id in seen
            result.append(replace(route, route_id=RouteId(self._ids.new())) if new else route)
            seen.add(result[-1].route_id)
        return result

    async def replace(self, bot_id: BotId, routes: Iterable[Route], *extra_statements: Statement) -> list[Route]:
        """Replaces all routes of a bot. `extra_statements` come first, such as the guard that the bot exists."""
        routes_with_ids = self.with_ids(routes)
        await self._journal.commit(
            Unit("routes.replace", (*extra_statements, *replace_statements(bot_id, routes_with_ids)))
        )
        self.cache(bot_id, routes_with_ids)
        return routes_with_ids

    def cache(self, bot_id: BotId, routes: list[Route]) -> None:
        """Caches routes after the statements of `replace_statements` were committed."""
        for route in routes:
            if "text_regex" in route.filters:
                regex_budget.pattern_problem(route.filters["text_regex"])  # compiles it, so that no event has to wait
        self._routes[bot_id] = list(routes)
        self._match_order[bot_id] = sort_for_matching(routes)
        if not routes:
            del self._routes[bot_id], self._match_order[bot_id]


def sort_for_matching(routes: Iterable[Route]) -> list[Route]:
    """Sorts routes for matching: by priority, then the more specific pattern, then their order in the list."""
    return sorted(routes, key=lambda route: (-route.priority, -route.specificity))


def replace_statements(bot_id: BotId, routes: list[Route]) -> list[Statement]:
    """Builds the statements that replace all routes of a bot."""
    statements: list[Statement] = [Delete(ROUTES, where(bot_id=bot_id), expect=ANY)]
    for position, route in enumerate(routes):
        definition = {name: getattr(route, name) for name in Route.__slots__ if name != "route_id"}
        values: dict[str, str | int] = {"route_id": route.route_id, "bot_id": bot_id, "position": position}
        statements.append(Insert(ROUTES, {**values, "definition": dumps(definition)}))
    return statements


def first_routes(agents: Iterable[Agent]) -> list[Route]:
    """Returns a route by which the oldest enabled agent answers messages that mention the bot; none without agents."""
    for agent in agents:
        if agent.enabled and agent.accepts("message.received"):
            config = {"agent_id": agent.agent_id}
            filters = {"mentions_bot": True}
            return [Route("message.received", "agent", config, description=FIRST_ROUTE_DESCRIPTION, filters=filters)]
    return []
