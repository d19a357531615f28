"""Conversations and their transcripts."""

from typing import Annotated, Any

from fastapi import APIRouter, Path

from parlour.core.facts.tables import CONVERSATIONS, TRANSCRIPT
from parlour.core.journal import Journal, Select, where

from .. import views
from ..auth import Principal, Reader
from ..errors import not_found
from ..paging import Cursor, Limit, Pages

ConversationId = Annotated[str, Path(max_length=64)]


def router(journal: Journal, pages: Pages) -> APIRouter:
    routes = APIRouter(tags=["conversations"])

    async def check_visible(conversation_id: str, principal: Principal) -> None:
        rows = await journal.read(Select(CONVERSATIONS, where(conversation_id=conversation_id), limit=1))
        if not rows or not (principal.may("viewer") or rows[0]["principal"] == principal.owner):
            raise not_found(f"conversation '{conversation_id}'", "GET /api/v1/conversations lists them")

    @routes.get("/conversations")
    async def list_conversations(principal: Reader, limit: Limit = 50, cursor: Cursor = None) -> dict[str, Any]:
        """Newest first; with a chat key only its own."""
        conditions = () if principal.may("viewer") else where(principal=principal.owner)
        return await pages.page(CONVERSATIONS, conditions, "conversation_id", views.conversation, limit, cursor)

    @routes.get("/conversations/{conversation_id}/transcript")
    async def read_transcript(
        conversation_id: ConversationId, principal: Reader, limit: Limit = 50, cursor: Cursor = None
    ) -> dict[str, Any]:
        """In the order it was said."""
        await check_visible(conversation_id, principal)
        conditions = where(conversation_id=conversation_id)
        return await pages.page(TRANSCRIPT, conditions, "seq", views.transcript_item, limit, cursor, "ascending")

    return routes
