"""The chat socket and its history."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, WebSocket

from parlour.core.agents.book import AgentBook
from parlour.core.delivery.feed import Feed
from parlour.core.events.gateway import Gateway
from parlour.core.facts.conversations import Conversations
from parlour.core.facts.outgoing import OutgoingRows
from parlour.core.facts.tables import TRANSCRIPT
from parlour.core.journal import Journal, where
from parlour.core.ports import Clock, Ids
from parlour.core.runs.session import Sessions

from .. import views
from ..auth import Authenticator, Chatter, Principal
from ..errors import Problem, not_found
from ..paging import Cursor, Limit, Pages
from .connection import ChatConnection
from .session import ChatSession, conversation_key

SessionName = Annotated[str, Path(min_length=1, max_length=200)]
REFUSED = 4000
"""Close codes are 4000 plus the HTTP status."""


def router(
    journal: Journal,
    agents: AgentBook,
    gateway: Gateway,
    conversations: Conversations,
    feed: Feed,
    sessions: Sessions,
    authenticator: Authenticator,
    pages: Pages,
    ids: Ids,
    clock: Clock,
) -> APIRouter:
    routes = APIRouter(tags=["chat"])
    rows = OutgoingRows(journal)

    def check_agent(agent_id: str) -> None:
        if agents.get(agent_id) is None:
            raise not_found(f"agent '{agent_id}'", "GET /api/v1/agents lists them")

    async def admit(socket: WebSocket, agent_id: str) -> Principal:
        principal = await authenticator.principal(socket)
        if not principal.may("chat"):
            raise Problem(403, "forbidden", f"a key with scope '{principal.scope}' may not chat")
        check_agent(agent_id)
        return principal

    @routes.websocket("/agents/{agent_id}/chat/ws")
    async def chat(
        socket: WebSocket,
        agent_id: str,
        session: Annotated[str, Query(min_length=1, max_length=200)] = "default",
        after: Annotated[int | None, Query(ge=0)] = None,
    ) -> None:
        try:
            principal = await admit(socket, agent_id)
        except Problem as problem:
            await socket.accept()
            await socket.send_json({"type": "error", "code": problem.code, "message": problem.message})
            await socket.close(REFUSED + problem.status, problem.message[:120])
            return
        await socket.accept()
        conversation_id = await conversations.open(conversation_key(agent_id, session, principal), ids, clock)
        talk = ChatSession(session, agent_id, conversation_id, gateway, ids, clock)
        connection = ChatConnection(socket, talk, principal, authenticator, feed, rows, sessions, clock)
        await connection.serve(after)

    @routes.get("/agents/{agent_id}/chat/{session}/messages")
    async def read_messages(
        agent_id: str, session: SessionName, principal: Chatter, limit: Limit = 50, cursor: Cursor = None
    ) -> dict[str, Any]:
        """What was said in this session of yours, in order."""
        check_agent(agent_id)
        conversation_id = await conversations.find(conversation_key(agent_id, session, principal))
        if conversation_id is None:
            return {"items": [], "next_cursor": None}
        conditions = where(conversation_id=conversation_id)
        return await pages.page(TRANSCRIPT, conditions, "seq", views.transcript_item, limit, cursor, "ascending")

    return routes
