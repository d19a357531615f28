"""A bot's routes: read, replaced as a whole, and tried out on an example."""

from typing import Annotated, Any

from fastapi import APIRouter

from parlour.core.access import audit
from parlour.core.platforms.book import BotBook
from parlour.core.ports import Clock
from parlour.core.routing.router import Bound, Decision, Dropped, Hooked, Listened, Misconfigured, Router, Tried
from parlour.core.routing.routes import Route, RouteBook

from ..answers import Answer, Json, Page
from ..auth import Admin, Viewer
from . import answers
from .endpoints import existing
from .examples import example
from .route_checking import RouteForm, shown
from .route_schemas import DryRunBody, RouteList


def router(bots: BotBook, book: RouteBook, form: RouteForm, routing: Router, clock: Clock) -> APIRouter:
    routes = APIRouter(tags=["bots"])

    def listed(bot_id: str) -> dict[str, Any]:
        return {"items": [shown(route) for route in book.listed(bot_id)], "next_cursor": None}

    @routes.get("/bots/{bot_id}/routes")
    async def list_routes(bot_id: str, principal: Viewer) -> Annotated[Json, Answer(Page[answers.Route])]:
        return listed(existing(bots, bot_id).bot_id)

    @routes.put("/bots/{bot_id}/routes")
    async def replace_routes(
        bot_id: str, body: RouteList, principal: Admin
    ) -> Annotated[Json, Answer(Page[answers.Route])]:
        existing(bots, bot_id)
        before = book.listed(bot_id)
        made = book.named(form.routes(body, before))
        seen = [[shown(route) for route in each] for each in (before, made)]
        entry = audit.admin(principal.owner, "bot.routes", bot_id, seen[0], seen[1], clock.now())
        await book.replace(bot_id, made, entry)
        return listed(bot_id)

    @routes.post("/bots/{bot_id}/routes/dry-run")
    async def try_routes(bot_id: str, body: DryRunBody, principal: Viewer) -> Annotated[Json, Answer(answers.DryRun)]:
        """By the bot's own routes, or by those that come with the event."""
        bot = existing(bots, bot_id)
        event, own = example(bot_id, bot.adapter, body.event), book.listed(bot_id)
        listed = own if body.routes is None else form.routes(body.routes, own)
        tried = routing.tried(event, listed)
        taken = tried[-1].route if tried and not tried[-1].reason else None
        reasons = [*map(_told, tried), _outcome(routing.decide(event, listed))]
        return {
            "route": shown(taken) if taken is not None else None,
            "index": next((place for place, route in enumerate(listed) if route is taken), None),
            "handler_type": taken.handler_type if taken is not None else "plugin",
            "reasons": reasons,
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
