"""Endpoints of what agents remember about people and chats."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from parlour.core.access import audit
from parlour.core.journal import GuardFailed, Row, where
from parlour.core.memory.service import MemoryService
from parlour.core.model.ids import AgentId, BotId
from parlour.core.model.memory import MAX_CHARACTERS
from parlour.core.model.ports import Clock
from parlour.core.store.tables import MEMORIES

from ..api_router import ApiRouter
from ..auth import Operator, Viewer
from ..errors import Problem, not_found
from ..pagination import Cursor, Limit, Pages
from ..responses import Id, PageResponse, TimestampMs

MemoryPath = Annotated[str, Path(max_length=64)]
OwnerType = Annotated[str, Query(min_length=1, max_length=64)]
OwnerId = Annotated[str, Query(min_length=1, max_length=500)]


class MemoryChange(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: str = Field(min_length=1, max_length=MAX_CHARACTERS)


class MemoryResponse(TypedDict):
    memory_id: Id
    agent_id: Id
    bot_id: str | None
    owner_type: str
    """`chat`, or the type of a person such as `user`."""
    owner_id: str
    chat: str
    """Where it was said."""
    conversation_id: str
    run_id: str
    text: str
    origin: Literal["agent", "operator"]
    created_at: TimestampMs
    updated_at: TimestampMs
    expires_at: TimestampMs | None


def router(memory: MemoryService, pages: Pages, clock: Clock) -> APIRouter:
    routes = ApiRouter(tags=["memories"])

    async def existing(memory_id: str) -> Row:
        row = await memory.records.memory(memory_id)
        if row is None:
            raise not_found(f"memory '{memory_id}'", "GET /api/v1/memories lists them")
        return row

    @routes.get("/memories")
    async def list_memories(
        principal: Viewer,
        agent_id: AgentId | None = None,
        bot_id: BotId | None = None,
        owner_type: OwnerType | None = None,
        owner_id: OwnerId | None = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> PageResponse[MemoryResponse]:
        """What agents remember; with the type and id of a person everything about this person."""
        given = {"agent_id": agent_id, "bot_id": bot_id, "owner_type": owner_type, "owner_id": owner_id}
        conditions = where(**{name: value for name, value in given.items() if value is not None})
        return await pages.page(MEMORIES, conditions, "memory_id", _response, limit, cursor)

    @routes.patch("/memories/{memory_id}")
    async def change_memory(memory_id: MemoryPath, body: MemoryChange, principal: Operator) -> MemoryResponse:
        row = await existing(memory_id)
        entry = audit.change_entry(principal.owner, "memory.change", memory_id, None, _audited(row), clock.now())
        try:
            await memory.change(row, body.text, entry)
        except GuardFailed:
            raise Problem(409, "conflict", "the memory was changed in the meantime; read it again") from None
        return _response(await existing(memory_id))

    @routes.delete("/memories/{memory_id}", status_code=204)
    async def delete_memory(memory_id: MemoryPath, principal: Operator) -> Response:
        row = await existing(memory_id)
        entry = audit.change_entry(principal.owner, "memory.remove", memory_id, _audited(row), None, clock.now())
        try:
            await memory.remove(memory_id, entry)
        except GuardFailed:
            raise not_found(f"memory '{memory_id}'", "GET /api/v1/memories lists them") from None
        return Response(status_code=204)

    @routes.delete("/memories", status_code=204)
    async def delete_memories_of_owner(principal: Operator, owner_type: OwnerType, owner_id: OwnerId) -> Response:
        """Deletes what all agents remember about a person or chat, and what was decided there with `/memory`."""
        values = {"owner_type": owner_type, "owner_id": owner_id}
        entry = audit.change_entry(principal.owner, "memory.remove_owner", owner_id, values, None, clock.now())
        await memory.remove_person(owner_type, owner_id, entry)
        return Response(status_code=204)

    return routes


def _audited(row: Row) -> dict[str, Any]:
    """Returns what the audit keeps of a memory: whose it is, but not what it says."""
    return {name: row[name] for name in ("agent_id", "bot_id", "owner_type", "owner_id")}


def _response(row: Row) -> MemoryResponse:
    return {
        "memory_id": row["memory_id"],
        "agent_id": row["agent_id"],
        "bot_id": row["bot_id"] or None,
        "owner_type": row["owner_type"],
        "owner_id": row["owner_id"],
        "chat": row["chat"],
        "conversation_id": row["conversation_id"],
        "run_id": row["run_id"],
        "text": row["text"],
        "origin": row["origin"],
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
        "expires_at": row["expires_at"] or None,
    }
