"""Endpoints to create, read, change and delete bots. A change is in effect when the response is sent, without a restart
of the Host."""

from operator import attrgetter
from typing import Protocol

from fastapi import APIRouter, Response

from parlour.core.config.agents import AgentRepository
from parlour.core.config.bots import Bot, BotRepository
from parlour.core.config.routes import RouteRepository, first_routes, replace_statements
from parlour.core.model.ids import BotId
from parlour.core.model.ports import Clock, Ids
from parlour.core.pagination import Cursors
from parlour.core.platforms.login import LoginCatalogue, LoginStep
from parlour.core.platforms.port import ConnectionStatus

from ..api_router import ApiRouter
from ..auth import Admin, Viewer
from ..crud import ConfigResource, check_same_id
from ..errors import Problem, not_found
from ..etags import IfMatch
from ..object_limits import ObjectLimit
from ..pagination import Cursor, Limit
from ..principals import Principal
from ..responses import PageResponse
from . import responses
from .address_endpoints import add_address_routes
from .callback_check import CallbackCheck
from .login_endpoints import LoginSteps, add_login_routes
from .mapping import BotMapper, audit_view, version_fields
from .schemas import BotBody, BotChange


class BotConnections(Protocol):
    """Applies configuration changes to running bots and reports their status."""

    async def apply(self, bot_id: BotId) -> None: ...

    def status(self, bot_id: BotId) -> ConnectionStatus: ...

    def takes_calls(self, bot_id: BotId) -> bool: ...


def get_bot_or_404(bots: BotRepository, bot_id: BotId) -> Bot:
    bot = bots.get(bot_id)
    if bot is None:
        raise bot_not_found(bot_id)
    return bot


def bot_not_found(bot_id: BotId) -> Problem:
    return not_found(f"bot '{bot_id}'", "GET /api/v1/bots lists them")


def router(
    bots: BotRepository,
    form: BotMapper,
    connections: BotConnections,
    routing: RouteRepository,
    agents: AgentRepository,
    logins: LoginCatalogue,
    callback_check: CallbackCheck,
    allowed_bots: ObjectLimit,
    cursors: Cursors,
    ids: Ids,
    clock: Clock,
) -> APIRouter:
    routes = ApiRouter(tags=["bots"])

    def to_response(bot: Bot) -> responses.BotResponse:
        """Returns the bot with the names of its secrets instead of their values."""
        status = connections.status(bot.bot_id)
        return {
            "bot_id": bot.bot_id,
            "name": bot.name,
            "adapter": bot.adapter,
            "adapter_config": bot.config,
            "secrets_set": sorted(bot.secrets),
            "enabled": bot.enabled,
            "keeps_heard_messages": bot.keeps_heard_messages,
            "status": {
                "state": status.state,
                "since": status.since or None,
                "last_error": status.last_error or None,
            },
        }

    resource = ConfigResource(
        "bot", "/bots", bots.get, attrgetter("bot_id"), audit_view, cursors, clock, version_fields
    )

    @routes.post("/bots", status_code=201)
    async def create_bot(body: BotBody, principal: Admin, response: Response) -> responses.BotResponse:
        bot = form.to_bot(BotId(ids.new()), body)
        initial_routes = routing.with_ids(first_routes(agents.all()))
        entry = resource.audit_entry(principal, None, bot)
        async with allowed_bots.room_for_one():
            await bots.add(bot, entry, *replace_statements(bot.bot_id, initial_routes))
        routing.cache(bot.bot_id, initial_routes)
        await connections.apply(bot.bot_id)
        return to_response(resource.with_etag(bot, response))

    @routes.get("/bots")
    async def list_bots(
        principal: Viewer, limit: Limit = 50, cursor: Cursor = None
    ) -> PageResponse[responses.BotResponse]:
        return resource.list_page(bots.all(), to_response, limit, cursor)

    @routes.get("/bots/{bot_id}")
    async def read_bot(bot_id: BotId, principal: Viewer, response: Response) -> responses.BotResponse:
        return to_response(resource.with_etag(resource.get_or_404(bot_id), response))

    @routes.put("/bots/{bot_id}")
    async def replace_bot(
        bot_id: BotId, body: BotChange, principal: Admin, response: Response, if_match: IfMatch = None
    ) -> responses.BotResponse:
        async with resource.edit(bot_id, if_match) as before:
            check_same_id("bot_id", bot_id, body.bot_id)
            bot = form.to_bot(bot_id, body, before)
            await bots.replace(bot, resource.audit_entry(principal, before, bot))
        await connections.apply(bot_id)
        return to_response(resource.with_etag(bot, response))

    @routes.delete("/bots/{bot_id}", status_code=204)
    async def delete_bot(bot_id: BotId, principal: Admin, if_match: IfMatch = None) -> Response:
        async with resource.edit(bot_id, if_match) as before:
            await bots.remove(bot_id, resource.audit_entry(principal, before, None))
        routing.cache(bot_id, [])
        await connections.apply(bot_id)
        return Response(status_code=204)

    async def save_login(bot_id: BotId, step: LoginStep, principal: Principal) -> None:
        if step.secrets or step.config:
            async with resource.edit(bot_id, None) as before:
                bot = form.with_login(before, step)
                await bots.replace(bot, resource.audit_entry(principal, before, bot))
        await connections.apply(bot_id)

    add_address_routes(routes, resource.get_or_404, connections.takes_calls, callback_check)
    add_login_routes(routes, resource.get_or_404, LoginSteps(logins, form.secrets, save_login))
    return routes
