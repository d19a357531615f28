"""Endpoints to read a bot's routes, replace them as a whole, and try them on an example event."""

import asyncio
from dataclasses import asdict
from typing import Any, cast

from fastapi import APIRouter, Response

from parlour.core.access import audit
from parlour.core.config.bots import BotRepository, require_bot_exists
from parlour.core.config.routes import RouteRepository
from parlour.core.journal import GuardFailed
from parlour.core.model.ids import BotId
from parlour.core.model.ports import Clock
from parlour.core.plugin_hooks.subscriptions import ListenerSubscriptions
from parlour.core.routing.decisions import ToAgent, ToListeners
from parlour.core.routing.router import Router, matched_route

from ..api_router import ApiRouter
from ..auth import Admin, Viewer
from ..etags import IfMatch, check_if_match, set_etag
from ..responses import PageResponse
from . import dry_run, responses
from .endpoints import bot_not_found, get_bot_or_404
from .handler_types import HandlerType
from .route_mapping import RouteMapper, to_response
from .route_schemas import DryRunBody, RouteList
from .sample_events import parse_sample


def router(
    bots: BotRepository,
    repository: RouteRepository,
    form: RouteMapper,
    routing: Router,
    audience: ListenerSubscriptions,
    clock: Clock,
) -> APIRouter:
    routes = ApiRouter(tags=["bots"])
    turn = asyncio.Lock()
    """Serializes changes of routes."""

    def parts(bot_id: BotId) -> dict[str, Any]:
        return {"items": [asdict(route) for route in repository.in_user_order(bot_id)]}

    def routes_response(bot_id: BotId, response: Response) -> PageResponse[responses.RouteResponse]:
        set_etag(response, parts(bot_id))
        return {"items": [to_response(route) for route in repository.in_user_order(bot_id)], "next_cursor": None}

    @routes.get("/bots/{bot_id}/routes")
    async def list_routes(
        bot_id: BotId, principal: Viewer, response: Response
    ) -> PageResponse[responses.RouteResponse]:
        return routes_response(get_bot_or_404(bots, bot_id).bot_id, response)

    @routes.put("/bots/{bot_id}/routes")
    async def replace_routes(
        bot_id: BotId, body: RouteList, principal: Admin, response: Response, if_match: IfMatch = None
    ) -> PageResponse[responses.RouteResponse]:
        async with turn:
            bot = get_bot_or_404(bots, bot_id)
            check_if_match(f"the list of routes of bot '{bot.name}'", if_match, parts(bot_id))
            before = repository.in_user_order(bot_id)
            new_routes = repository.with_ids(form.to_routes(body, before))
            views = [[to_response(route) for route in each] for each in (before, new_routes)]
            entry = audit.change_entry(principal.owner, "bot.routes", bot_id, views[0], views[1], clock.now())
            try:
                await repository.replace(bot_id, new_routes, require_bot_exists(bot_id), entry)
            except GuardFailed:
                raise bot_not_found(bot_id) from None  # it was deleted concurrently
        return routes_response(bot_id, response)

    @routes.post("/bots/{bot_id}/routes/dry-run")
    async def try_routes(bot_id: BotId, body: DryRunBody, principal: Viewer) -> responses.DryRun:
        """By the bot's own routes, or by those that come with the event."""
        bot = get_bot_or_404(bots, bot_id)
        event, stored_routes = parse_sample(bot_id, bot.adapter, body.event), repository.in_user_order(bot_id)
        candidates = stored_routes if body.routes is None else form.to_routes(body.routes, stored_routes)
        attempts = routing.evaluate(event, candidates)
        route, decision = matched_route(attempts), routing.decide(event, attempts)
        considered = routing.default_candidate(event, attempts)
        default = [dry_run.default_agent_step(considered)] if considered else []
        plugins = decision.plugins if isinstance(decision, ToListeners) else ()
        outcome = dry_run.outcome_step(decision, bool(audience.subscribed_plugins(event.event_type, plugins)))
        steps = [*map(dry_run.route_step, attempts), *default, outcome]
        binding = decision.binding if isinstance(decision, ToAgent) else None
        unrouted: HandlerType = "plugin" if isinstance(decision, ToListeners) else "agent"
        return {
            "route": to_response(route) if route is not None else None,
            "index": next((index for index, each in enumerate(candidates) if each is route), None),
            "handler_type": cast("HandlerType", route.handler_type) if route is not None else unrouted,
            "agent_id": binding.agent.agent_id if binding is not None else None,
            "scope": cast("responses.BindingScope", binding.scope) if binding is not None else None,
            "reasons": [step["text"] for step in steps],
            "steps": steps,
        }

    return routes
