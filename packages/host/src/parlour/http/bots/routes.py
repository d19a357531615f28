"""Endpoints to read a bot's routes, replace them as a whole, and try them on an example event."""

import asyncio
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Response

from parlour.core.access import audit
from parlour.core.config.bots import BotBook, there
from parlour.core.config.routes import RouteBook
from parlour.core.journal import GuardFailed
from parlour.core.model.ports import Clock
from parlour.core.plugin_hooks.subscriptions import Audience
from parlour.core.routing.router import Bound, Listened, Router, taken

from ..auth import Admin, Viewer
from ..etags import IfMatch, check, tell
from ..responses import Answer, Json, Page
from . import dry_run, responses
from .endpoints import absent, existing
from .route_mapping import RouteForm, shown
from .route_schemas import DryRunBody, RouteList
from .sample_events import example


def router(
    bots: BotBook, book: RouteBook, form: RouteForm, routing: Router, audience: Audience, clock: Clock
) -> APIRouter:
    routes = APIRouter(tags=["bots"])
    turn = asyncio.Lock()
    """Serializes changes of routes."""

    def parts(bot_id: str) -> dict[str, Any]:
        return {"items": [asdict(route) for route in book.listed(bot_id)]}

    def told(bot_id: str, response: Response) -> dict[str, Any]:
        tell(response, parts(bot_id))
        return {"items": [shown(route) for route in book.listed(bot_id)], "next_cursor": None}

    @routes.get("/bots/{bot_id}/routes")
    async def list_routes(
        bot_id: str, principal: Viewer, response: Response
    ) -> Annotated[Json, Answer(Page[responses.Route])]:
        return told(existing(bots, bot_id).bot_id, response)

    @routes.put("/bots/{bot_id}/routes")
    async def replace_routes(
        bot_id: str, body: RouteList, principal: Admin, response: Response, if_match: IfMatch = None
    ) -> Annotated[Json, Answer(Page[responses.Route])]:
        async with turn:
            bot = existing(bots, bot_id)
            check(f"the list of routes of bot '{bot.name}'", if_match, parts(bot_id))
            before = book.listed(bot_id)
            made = book.named(form.routes(body, before))
            seen = [[shown(route) for route in each] for each in (before, made)]
            entry = audit.admin(principal.owner, "bot.routes", bot_id, seen[0], seen[1], clock.now())
            try:
                await book.replace(bot_id, made, there(bot_id), entry)
            except GuardFailed:
                raise absent(bot_id) from None  # it was deleted concurrently
        return told(bot_id, response)

    @routes.post("/bots/{bot_id}/routes/dry-run")
    async def try_routes(bot_id: str, body: DryRunBody, principal: Viewer) -> Annotated[Json, Answer(responses.DryRun)]:
        """By the bot's own routes, or by those that come with the event."""
        bot = existing(bots, bot_id)
        event, own = example(bot_id, bot.adapter, body.event), book.listed(bot_id)
        listed = own if body.routes is None else form.routes(body.routes, own)
        tried = routing.tried(event, listed)
        route, decision = taken(tried), routing.decide(event, tried)
        considered = routing.considered(event, tried)
        default = [dry_run.of_default(considered)] if considered else []
        plugins = decision.plugins if isinstance(decision, Listened) else ()
        outcome = dry_run.of_outcome(decision, bool(audience.listening(event.event_type, plugins)))
        steps = [*map(dry_run.of_route, tried), *default, outcome]
        binding = decision.binding if isinstance(decision, Bound) else None
        unrouted = "plugin" if isinstance(decision, Listened) else "agent"
        return {
            "route": shown(route) if route is not None else None,
            "index": next((place for place, each in enumerate(listed) if each is route), None),
            "handler_type": route.handler_type if route is not None else unrouted,
            "agent_id": binding.agent.agent_id if binding is not None else None,
            "scope": binding.scope if binding is not None else None,
            "reasons": [step["text"] for step in steps],
            "steps": steps,
        }

    return routes
