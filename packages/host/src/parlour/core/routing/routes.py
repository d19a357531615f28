"""A bot's routes: event patterns and what handles them."""

from dataclasses import dataclass, field
from typing import Any, Literal

from parlour.core.encoding import dumps, loads
from parlour.core.facts.tables import ROUTES
from parlour.core.journal import ANY, Delete, Draft, Insert, Journal, Select, where
from parlour.core.ports import Ids

HandlerType = Literal["agent", "drop"]


@dataclass(frozen=True, slots=True)
class Route:
    """`event_type` is exact, `namespace.*` or `*`."""

    event_type: str
    handler_type: HandlerType
    handler_config: dict[str, Any] = field(default_factory=dict)
    enabled: bool = True
    priority: int = 0
    description: str = ""

    def matches(self, event_type: str) -> bool:
        if self.event_type in ("*", event_type):
            return True
        return self.event_type.endswith(".*") and event_type.startswith(self.event_type[:-1])

    @property
    def specificity(self) -> int:
        if self.event_type == "*":
            return 0
        return 1 if self.event_type.endswith(".*") else 2


class RouteBook:
    """All bots' routes, kept in memory and written through."""

    def __init__(self, journal: Journal, ids: Ids) -> None:
        self._journal = journal
        self._ids = ids
        self._routes: dict[str, list[Route]] = {}

    async def load(self) -> None:
        routes: dict[str, list[Route]] = {}
        for row in await self._journal.read(Select(ROUTES, order=("bot_id", "position"))):
            routes.setdefault(row["bot_id"], []).append(Route(**loads(row["definition"])))
        self._routes = routes

    def of(self, bot_id: str) -> list[Route]:
        """In the order they are tried: priority, then the more specific pattern, then the list's own order."""
        return sorted(self._routes.get(bot_id, ()), key=lambda route: (-route.priority, -route.specificity))

    async def replace(self, bot_id: str, routes: list[Route]) -> None:
        draft = Draft("routes.replace")
        draft.add(Delete(ROUTES, where(bot_id=bot_id), expect=ANY))
        for position, route in enumerate(routes):
            definition = {name: getattr(route, name) for name in Route.__slots__}
            values: dict[str, str | int] = {"route_id": self._ids.new(), "bot_id": bot_id, "position": position}
            draft.add(Insert(ROUTES, {**values, "definition": dumps(definition)}))
        await self._journal.commit(draft.unit())
        self._routes[bot_id] = list(routes)
