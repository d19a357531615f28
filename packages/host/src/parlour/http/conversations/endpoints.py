"""Endpoints to list, read, reset and delete conversations and their transcripts."""

from collections.abc import Sequence
from typing import Annotated, Protocol

from fastapi import APIRouter, Path, Query, Response

from parlour.core.access import audit
from parlour.core.config.default_agents import DefaultAgentRepository, ScopeDefaults, delete_statements
from parlour.core.errors import CallRejected
from parlour.core.journal import Journal, Row, Select, Statement, where
from parlour.core.model.ids import ConversationId
from parlour.core.model.ports import Clock, Ids
from parlour.core.runs.conversation_deletion import ConversationEraser
from parlour.core.store.conversations import Conversations
from parlour.core.store.tables import CONVERSATIONS, TRANSCRIPT

from .. import views
from ..api_router import ApiRouter
from ..auth import ChatUser, Reader
from ..errors import Problem, not_found
from ..pagination import DIRECTIONS, Cursor, Limit, Order, Pages
from ..principals import Principal
from ..responses import NewConversationResponse, PageResponse
from .responses import ConversationResponse, TranscriptItemResponse
from .search import ConversationSearch

ConversationPath = Annotated[ConversationId, Path(max_length=64)]
Text = Annotated[
    str | None,
    Query(min_length=1, max_length=200, description="Part of what was said in it, or of a sender's name or id"),
]


class ConversationWorkspaces(Protocol):
    """Deletes the files that a conversation has in the Box, or in the folders of programs."""

    async def prepare(self, conversation_id: ConversationId) -> Sequence[Statement]:
        """Returns statements for the unit that deletes the conversation."""
        ...

    def wake(self, conversation_id: ConversationId) -> None:
        """Starts what the statements have prepared."""
        ...


class ConversationDeletion:
    """Deletes a conversation together with the default agents of its chat or thread."""

    def __init__(
        self,
        conversations: Conversations,
        default_agents: DefaultAgentRepository,
        eraser: ConversationEraser,
        workspaces: Sequence[ConversationWorkspaces],
        clock: Clock,
    ) -> None:
        self._conversations = conversations
        self._default_agents = default_agents
        self._eraser = eraser
        self._workspaces = workspaces
        self._clock = clock

    async def delete(self, conversation_id: ConversationId, principal: Principal) -> None:
        """Deletes the conversation. Raises CallRejected if that is not possible now."""
        removed_defaults = await self._own_defaults(conversation_id)
        before = {"default_agents": [each.agent_id for each in removed_defaults]} if removed_defaults else None
        entry = audit.change_entry(
            principal.owner, "conversation.delete", conversation_id, before, None, self._clock.now()
        )
        removals = list(delete_statements(removed_defaults))
        for each in self._workspaces:
            removals += await each.prepare(conversation_id)
        await self._eraser.erase(conversation_id, principal.participant, entry, *removals)
        for each in self._workspaces:
            each.wake(conversation_id)
        self._default_agents.evict(lambda each: each in removed_defaults)

    async def _own_defaults(self, conversation_id: ConversationId) -> ScopeDefaults:
        """Returns the default agents of the conversation's chat or thread, if it is that chat's current
        conversation."""
        key = await self._conversations.get_key(conversation_id)
        if key is None or await self._conversations.find(key) != conversation_id:
            return ()
        return self._default_agents.for_conversation(key)


def router(
    journal: Journal,
    pages: Pages,
    search: ConversationSearch,
    conversations: Conversations,
    deletion: ConversationDeletion,
    ids: Ids,
    clock: Clock,
) -> APIRouter:
    routes = ApiRouter(tags=["conversations"])

    async def visible(conversation_id: ConversationId, principal: Principal) -> Row:
        rows = await journal.read(Select(CONVERSATIONS, where(conversation_id=conversation_id), limit=1))
        if not rows or not (principal.may("viewer") or rows[0]["principal"] == principal.owner):
            raise not_found(f"conversation '{conversation_id}'", "GET /api/v1/conversations lists them")
        return rows[0]

    @routes.get("/conversations")
    async def list_conversations(
        principal: Reader, q: Text = None, limit: Limit = 50, cursor: Cursor = None
    ) -> PageResponse[ConversationResponse]:
        """Newest first; with a chat key only its own. With `q` a page may hold fewer than `limit`, also none."""
        conditions = () if principal.may("viewer") else where(principal=principal.owner)
        if q is not None:
            return await search.page(q, conditions, limit, cursor)
        return await pages.page(CONVERSATIONS, conditions, "conversation_id", views.conversation, limit, cursor)

    @routes.get("/conversations/{conversation_id}")
    async def read_conversation(conversation_id: ConversationPath, principal: Reader) -> ConversationResponse:
        return views.conversation(await visible(conversation_id, principal))

    @routes.get("/conversations/{conversation_id}/transcript")
    async def read_transcript(
        conversation_id: ConversationPath,
        principal: Reader,
        q: Annotated[str | None, Query(min_length=1, max_length=1000)] = None,
        order: Order = "oldest",
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> PageResponse[TranscriptItemResponse]:
        """In the order it was said or the other way round; with `q` what matches, the best first, on one page."""
        await visible(conversation_id, principal)
        conditions = where(conversation_id=conversation_id)
        if q is not None:
            rows = await search.transcript_rows(q, conversation_id, limit)
            return {"items": [views.transcript_item(row) for row in rows], "next_cursor": None}
        direction = DIRECTIONS[order]
        return await pages.page(TRANSCRIPT, conditions, "seq", views.transcript_item, limit, cursor, direction)

    @routes.post("/conversations/{conversation_id}/reset")
    async def reset_conversation(conversation_id: ConversationPath, principal: ChatUser) -> NewConversationResponse:
        """Its chat begins anew; what was said before stays under its own id."""
        await visible(conversation_id, principal)
        key = await conversations.get_key(conversation_id)
        assert key is not None
        return {"conversation_id": await conversations.start_new(key, ids, clock)}

    @routes.delete("/conversations/{conversation_id}", status_code=204)
    async def delete_conversation(conversation_id: ConversationPath, principal: ChatUser) -> Response:
        """What was said in it is gone, its files' content with the next clean-up; a chat key deletes its own.

        Its default agent goes with it.
        """
        await visible(conversation_id, principal)
        try:
            await deletion.delete(conversation_id, principal)
        except CallRejected as refusal:
            raise Problem(409, "conflict", refusal.message) from refusal
        return Response(status_code=204)

    return routes
