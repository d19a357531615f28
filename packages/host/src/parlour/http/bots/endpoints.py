"""Bots: made, read, changed, deleted. A change is true when it is answered, without a restart of the Host."""

from typing import Any, Protocol

from fastapi import APIRouter, Response

from parlour.core.access import audit
from parlour.core.agents.book import AgentBook
from parlour.core.cursors import Cursors
from parlour.core.journal import Insert
from parlour.core.platforms.book import Bot, BotBook
from parlour.core.platforms.port import Status
from parlour.core.ports import Clock, Ids
from parlour.core.routing.defaults import first_routes
from parlour.core.routing.routes import RouteBook, writing

from ..auth import Admin, Principal, Viewer
from ..errors import not_found
from ..paging import Cursor, Limit
from .checking import BotForm, audited
from .schemas import BotBody


class Connections(Protocol):
    """The bots that run."""

    async def apply(self, bot_id: str) -> None: ...

    def status(self, bot_id: str) -> Status: ...


def existing(bots: BotBook, bot_id: str) -> Bot:
    bot = bots.get(bot_id)
    if bot is None:
        raise not_found(f"bot '{bot_id}'", "GET /api/v1/bots lists them")
    return bot


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

    def change(principal: Principal, action: str, before: Bot | None, after: Bot | None) -> Insert:
        bot = after or before
        assert bot is not None
        return audit.admin(principal.owner, action, bot.bot_id, audited(before), audited(after), clock.now())

    def shown(bot: Bot) -> dict[str, Any]:
        """Of secrets, that there are such."""
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

    @routes.post("/bots", status_code=201)
    async def create_bot(body: BotBody, principal: Admin) -> dict[str, Any]:
        bot = form.bot(ids.new(), body)
        first = routing.named(first_routes(agents.all()))
        await bots.add(bot, change(principal, "bot.create", None, bot), *writing(bot.bot_id, first))
        routing.written(bot.bot_id, first)
        await connections.apply(bot.bot_id)
        return shown(bot)

    @routes.get("/bots")
    async def list_bots(principal: Viewer, limit: Limit = 50, cursor: Cursor = None) -> dict[str, Any]:
        after = "" if cursor is None else str(cursors.decode("bots", cursor))
        rest = [bot for bot in bots.all() if bot.bot_id > after]
        page = rest[:limit]
        more = cursors.encode("bots", page[-1].bot_id) if len(rest) > limit else None
        return {"items": [shown(bot) for bot in page], "next_cursor": more}

    @routes.get("/bots/{bot_id}")
    async def read_bot(bot_id: str, principal: Viewer) -> dict[str, Any]:
        return shown(existing(bots, bot_id))

    @routes.put("/bots/{bot_id}")
    async def replace_bot(bot_id: str, body: BotBody, principal: Admin) -> dict[str, Any]:
        before = existing(bots, bot_id)
        bot = form.bot(bot_id, body, before)
        await bots.replace(bot, change(principal, "bot.replace", before, bot))
        await connections.apply(bot_id)
        return shown(bot)

    @routes.delete("/bots/{bot_id}", status_code=204)
    async def delete_bot(bot_id: str, principal: Admin) -> Response:
        before = existing(bots, bot_id)
        await bots.remove(bot_id, change(principal, "bot.delete", before, None))
        routing.written(bot_id, [])
        await connections.apply(bot_id)
        return Response(status_code=204)

    return routes
