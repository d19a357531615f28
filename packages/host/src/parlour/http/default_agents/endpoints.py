"""Endpoints to list, set and remove default agents. A change is in effect when the response is sent."""

import asyncio
from dataclasses import replace
from operator import attrgetter
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from parlour.core.config.default_agents import DefaultAgent, DefaultAgentBook, NamedGone, PlaceTaken
from parlour.core.journal import GuardFailed
from parlour.core.model.ports import Clock, Ids
from parlour.core.pagination import Cursors

from ..auth import Admin, Viewer
from ..crud import Shelf
from ..errors import invalid, not_found
from ..pagination import Cursor, Limit
from ..principals import Principal
from ..responses import Answer, Json, Page
from . import responses
from .mapping import DefaultAgentForm, audited
from .schemas import DefaultAgentBody

DefaultId = Annotated[str, Path(max_length=64)]


def router(book: DefaultAgentBook, form: DefaultAgentForm, cursors: Cursors, ids: Ids, clock: Clock) -> APIRouter:
    routes = APIRouter(tags=["default agents"])
    shelf = Shelf("default agent", "/default-agents", book.get, attrgetter("default_id"), audited, cursors, clock)
    turn = asyncio.Lock()
    """Serializes changes of default agents."""

    @routes.get("/default-agents")
    async def list_default_agents(
        principal: Viewer,
        bot_id: Annotated[str | None, Query(max_length=64, description="Only those of this bot's chats")] = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Annotated[Json, Answer(Page[responses.DefaultAgent])]:
        listed = [each for each in book.all() if bot_id is None or each.place.bot_id == bot_id]
        return shelf.page(listed, form.shown, limit, cursor)

    @routes.put("/default-agents")
    async def set_default_agent(
        body: DefaultAgentBody, principal: Admin
    ) -> Annotated[Json, Answer(responses.DefaultAgent)]:
        """Where another agent is the default already, it is refused, unless that one is named in `replaces`."""
        async with turn:
            place = form.place(body)
            form.check_agent(body)
            there = book.at(place)
            if rivals := tuple(each for each in there if each.agent_id not in (body.agent_id, body.replaces)):
                raise form.rivals(place, rivals, body.agent_id)
            before, now = there[0] if there else None, clock.now()
            if before is not None and before.agent_id == body.agent_id:
                return form.shown(before)
            fresh = DefaultAgent(ids.new(), place, body.agent_id, now, now)
            default = replace(before, agent_id=body.agent_id, updated_at=now) if before is not None else fresh
            await write(before, default, principal)
        return form.shown(default)

    async def write(before: DefaultAgent | None, default: DefaultAgent, principal: Principal) -> None:
        entry = shelf.change(principal, before, default)
        try:
            if before is None:
                await book.add(default, entry)
            else:
                await book.replace(before, default, entry)
        except PlaceTaken as error:  # by another process on this database
            raise form.rivals(default.place, book.at(default.place), default.agent_id) from error
        except NamedGone as error:
            raise invalid(error.field, "it was deleted just now") from error

    @routes.delete("/default-agents/{default_id}", status_code=204)
    async def remove_default_agent(default_id: DefaultId, principal: Admin) -> Response:
        async with turn:
            before = shelf.existing(default_id)
            try:
                await book.remove(default_id, shelf.change(principal, before, None))
            except GuardFailed as error:  # its agent or bot was deleted concurrently
                raise not_found(f"default agent '{default_id}'", "GET /api/v1/default-agents lists them") from error
        return Response(status_code=204)

    return routes
