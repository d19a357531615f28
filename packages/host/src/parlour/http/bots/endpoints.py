"""Endpoints to create, read, change and delete bots. A change is in effect when the response is sent, without a restart
of the Host."""

from operator import attrgetter
from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Response

from parlour.core.config.agents import AgentBook
from parlour.core.config.bots import Bot, BotBook
from parlour.core.config.default_routes import first_routes
from parlour.core.config.routes import RouteBook, writing
from parlour.core.model.ports import Clock, Ids
from parlour.core.pagination import Cursors
from parlour.core.platforms.port import Status

from ..auth import Admin, Viewer
from ..crud import Shelf, same
from ..errors import Problem, not_found
from ..etags import IfMatch
from ..pagination import Cursor, Limit
from ..responses import Answer, Json, Page
from . import responses
from .mapping import BotForm, audited, parts
from .schemas import BotBody, BotChange


class Connections(Protocol):
    """Applies configuration changes to running bots and reports their status."""

    async def apply(self, bot_id: str) -> None: ...

    def status(self, bot_id: str) -> Status: ...


def existing(bots: BotBook, bot_id: str) -> Bot:
    bot = bots.get(bot_id)
    if bot is None:
        raise absent(bot_id)
    return bot


def absent(bot_id: str) -> Problem:
    return not_found(f"bot '{bot_id}'", "GET /api/v1/bots lists them")


def router(
    bots: BotBook,
    form: BotForm,
    connections: Connections,
    routing: RouteBook,
    agents: AgentBook,
    cursors: Cursors,
    ids: Ids,
    clock: Clock,
) -> APIRouter:
    routes = APIRouter(tags=["bots"])

    def shown(bot: Bot) -> dict[str, Any]:
        """Returns the bot with the names of its secrets instead of their values."""
        status = connections.status(bot.bot_id)
        return {
            "bot_id": bot.bot_id,
            "name": bot.name,
            "adapter": bot.adapter,
            "adapter_config": bot.config,
            "secrets_set": sorted(bot.secrets),
            "enabled": bot.enabled,
            "status": {
                "state": status.state,
                "since": status.since or None,
                "last_error": status.last_error or None,
            },
        }

    shelf = Shelf("bot", "/bots", bots.get, attrgetter("bot_id"), audited, cursors, clock, parts)

    @routes.post("/bots", status_code=201)
    async def create_bot(body: BotBody, principal: Admin, response: Response) -> Annotated[Json, Answer(responses.Bot)]:
        bot = form.bot(ids.new(), body)
        first = routing.named(first_routes(agents.all()))
        await bots.add(bot, shelf.change(principal, None, bot), *writing(bot.bot_id, first))
        routing.written(bot.bot_id, first)
        await connections.apply(bot.bot_id)
        return shown(shelf.told(bot, response))

    @routes.get("/bots")
    async def list_bots(
        principal: Viewer, limit: Limit = 50, cursor: Cursor = None
    ) -> Annotated[Json, Answer(Page[responses.Bot])]:
        return shelf.page(bots.all(), shown, limit, cursor)

    @routes.get("/bots/{bot_id}")
    async def read_bot(bot_id: str, principal: Viewer, response: Response) -> Annotated[Json, Answer(responses.Bot)]:
        return shown(shelf.told(shelf.existing(bot_id), response))

    @routes.put("/bots/{bot_id}")
    async def replace_bot(
        bot_id: str, body: BotChange, principal: Admin, response: Response, if_match: IfMatch = None
    ) -> Annotated[Json, Answer(responses.Bot)]:
        async with shelf.changing(bot_id, if_match) as before:
            same("bot_id", bot_id, body.bot_id)
            bot = form.bot(bot_id, body, before)
            await bots.replace(bot, shelf.change(principal, before, bot))
        await connections.apply(bot_id)
        return shown(shelf.told(bot, response))

    @routes.delete("/bots/{bot_id}", status_code=204)
    async def delete_bot(bot_id: str, principal: Admin, if_match: IfMatch = None) -> Response:
        async with shelf.changing(bot_id, if_match) as before:
            await bots.remove(bot_id, shelf.change(principal, before, None))
        routing.written(bot_id, [])
        await connections.apply(bot_id)
        return Response(status_code=204)

    return routes
