"""Endpoints to list, set and remove default agents. A change is in effect when the response is sent."""

import asyncio
from dataclasses import replace
from operator import attrgetter
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from parlour.core.config.default_agents import DefaultAgent, DefaultAgentRepository, ScopeTaken, TargetMissing
from parlour.core.journal import GuardFailed
from parlour.core.model.ids import BotId, DefaultAgentId
from parlour.core.model.ports import Clock, Ids
from parlour.core.pagination import Cursors

from ..api_router import ApiRouter
from ..auth import Admin, Viewer
from ..crud import ConfigResource
from ..errors import invalid_field, not_found
from ..pagination import Cursor, Limit
from ..principals import Principal
from ..responses import PageResponse
from .mapping import DefaultAgentMapper, audit_view
from .schemas import DefaultAgentBody, DefaultAgentResponse

DefaultAgentPath = Annotated[DefaultAgentId, Path(max_length=64)]


def router(
    repository: DefaultAgentRepository, form: DefaultAgentMapper, cursors: Cursors, ids: Ids, clock: Clock
) -> APIRouter:
    routes = ApiRouter(tags=["default agents"])
    resource = ConfigResource(
        "default agent", "/default-agents", repository.get, attrgetter("default_id"), audit_view, cursors, clock
    )
    turn = asyncio.Lock()
    """Serializes changes of default agents."""

    @routes.get("/default-agents")
    async def list_default_agents(
        principal: Viewer,
        bot_id: Annotated[BotId | None, Query(max_length=64, description="Only those of this bot's chats")] = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> PageResponse[DefaultAgentResponse]:
        defaults = [each for each in repository.all() if bot_id is None or each.place.bot_id == bot_id]
        return resource.list_page(defaults, form.to_response, limit, cursor)

    @routes.put("/default-agents")
    async def set_default_agent(body: DefaultAgentBody, principal: Admin) -> DefaultAgentResponse:
        """Where another agent is the default already, it is refused, unless that one is named in `replaces`."""
        async with turn:
            scope = form.to_place(body)
            form.check_agent(body)
            existing = repository.for_scope(scope)
            if rivals := tuple(each for each in existing if each.agent_id not in (body.agent_id, body.replaces)):
                raise form.conflict(scope, rivals, body.agent_id)
            before, now = existing[0] if existing else None, clock.now()
            if before is not None and before.agent_id == body.agent_id:
                return form.to_response(before)
            new_default = DefaultAgent(DefaultAgentId(ids.new()), scope, body.agent_id, now, now)
            default = replace(before, agent_id=body.agent_id, updated_at=now) if before is not None else new_default
            await write(before, default, principal)
        return form.to_response(default)

    async def write(before: DefaultAgent | None, default: DefaultAgent, principal: Principal) -> None:
        entry = resource.audit_entry(principal, before, default)
        try:
            if before is None:
                await repository.add(default, entry)
            else:
                await repository.replace(before, default, entry)
        except ScopeTaken as error:  # by another process on this database
            raise form.conflict(default.place, repository.for_scope(default.place), default.agent_id) from error
        except TargetMissing as error:
            raise invalid_field(error.field, "it was deleted just now") from error

    @routes.delete("/default-agents/{default_id}", status_code=204)
    async def remove_default_agent(default_id: DefaultAgentPath, principal: Admin) -> Response:
        async with turn:
            before = resource.get_or_404(default_id)
            try:
                await repository.remove(default_id, resource.audit_entry(principal, before, None))
            except GuardFailed as error:  # its agent or bot was deleted concurrently
                raise not_found(f"default agent '{default_id}'", "GET /api/v1/default-agents lists them") from error
        return Response(status_code=204)

    return routes
