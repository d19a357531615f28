"""A bot's routes: read, replaced as a whole, and tried out on an example."""

import asyncio
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Response

from parlour.core.access import audit
from parlour.core.platforms.book import BotBook
from parlour.core.ports import Clock
from parlour.core.routing.router import Bound, Decision, Dropped, Hooked, Listened, Misconfigured, Router, Tried, taken
from parlour.core.routing.routes import Route, RouteBook

from ..answers import Answer, Json, Page
from ..auth import Admin, Viewer
from ..versions import IfMatch, check, tell
from . import answers
from .endpoints import existing
from .examples import example
from .route_checking import RouteForm, shown
from .route_schemas import DryRunBody, RouteList


def router(bots: BotBook, book: RouteBook, form: RouteForm, routing: Router, clock: Clock) -> APIRouter:
    routes = APIRouter(tags=["bots"])
    turn = asyncio.Lock()
    """Whoever changes routes does so one after the other."""

    def parts(bot_id: str) -> dict[str, Any]:
        return {"items": [asdict(route) for route in book.listed(bot_id)]}

    def told(bot_id: str, response: Response) -> dict[str, Any]:
        tell(response, parts(bot_id))
        return {"items": [shown(route) for route in book.listed(bot_id)], "next_cursor": None}

    @routes.get("/bots/{bot_id}/routes")
    async def list_routes(
        bot_id: str, principal: Viewer, response: Response
    ) -> Annotated[Json, Answer(Page[answers.Route])]:
        return told(existing(bots, bot_id).bot_id, response)

    @routes.put("/bots/{bot_id}/routes")
    async def replace_routes(
        bot_id: str, body: RouteList, principal: Admin, response: Response, if_match: IfMatch = None
    ) -> Annotated[Json, Answer(Page[answers.Route])]:
        async with turn:
            bot = existing(bots, bot_id)
            check(f"the list of routes of bot '{bot.name}'", if_match, parts(bot_id))
            before = book.listed(bot_id)
            made = book.named(form.routes(body, before))
            seen = [[shown(route) for route in each] for each in (before, made)]
            entry = audit.admin(principal.owner, "bot.routes", bot_id, seen[0], seen[1], clock.now())
            await book.replace(bot_id, made, entry)
        return told(bot_id, response)

    @routes.post("/bots/{bot_id}/routes/dry-run")
    async def try_routes(bot_id: str, body: DryRunBody, principal: Viewer) -> Annotated[Json, Answer(answers.DryRun)]:
        """By the bot's own routes, or by those that come with the event."""
        bot = existing(bots, bot_id)
        event, own = example(bot_id, bot.adapter, body.event), book.listed(bot_id)
        listed = own if body.routes is None else form.routes(body.routes, own)
        tried = routing.tried(event, listed)
        route, decision = taken(tried), routing.decide(event, listed)
        considered = routing.considered(event, tried)
        default = [f"{considered.label}: {considered.reason or 'it takes the event'}"] if considered else []
        binding = decision.binding if isinstance(decision, Bound) else None
        unrouted = "plugin" if isinstance(decision, Listened) else "agent"
        return {
            "route": shown(route) if route is not None else None,
            "index": next((place for place, each in enumerate(listed) if each is route), None),
            "handler_type": route.handler_type if route is not None else unrouted,
            "agent_id": binding.agent.agent_id if binding is not None else None,
            "scope": binding.scope if binding is not None else None,
            "reasons": [*map(_told, tried), *default, _outcome(decision)],
        }

    return routes


def _told(tried: Tried) -> str:
    return f"{tried.route.label}: {tried.reason or _holds(tried.route)}"


def _holds(route: Route) -> str:
    names = ", ".join(route.filters)
    return f"it takes the event; {names} hold" if names else "it takes the event"


def _outcome(decision: Decision) -> str:
    match decision:
        case Bound(binding):
            return f"agent '{binding.agent.name}' answers"
        case Hooked(route):
            return f"it is sent to {route.handler_config['url']}"
        case Listened(plugins):
            who = ", ".join(plugins) or "all plugins"
            return f"it goes to the listeners of {who}"
        case Dropped():
            return "nobody answers, on purpose"
        case Misconfigured(reason):
            return f"it can't be answered: {reason}"
