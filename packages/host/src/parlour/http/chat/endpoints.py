"""Endpoints of the web chat: the socket, its sessions and their history."""

from typing import Annotated

from fastapi import APIRouter, Path, WebSocket

from parlour.core.access import audit
from parlour.core.journal import Journal, Unit, where
from parlour.core.model.ids import AgentId
from parlour.core.model.ports import Clock
from parlour.core.pagination import Cursors
from parlour.core.store import transcript
from parlour.core.store.tables import TRANSCRIPT

from .. import views
from ..api_router import ApiRouter
from ..auth import ChatUser, Operator, Reader
from ..conversations.responses import TranscriptItemResponse
from ..pagination import DIRECTIONS, Cursor, Limit, Order, Pages, paginate
from ..responses import NewConversationResponse, PageResponse
from .frames import BroadcastBody
from .responses import BroadcastResponse, ConnectionResponse, SessionResponse
from .session import ChatSessions, session_sort_key, session_view
from .sockets import ChatSockets

SessionName = Annotated[str, Path(min_length=1, max_length=200)]


def router(
    journal: Journal, sessions: ChatSessions, sockets: ChatSockets, pages: Pages, cursors: Cursors, clock: Clock
) -> APIRouter:
    routes = ApiRouter(tags=["chat"])

    @routes.websocket("/agents/{agent_id}/chat/ws")
    async def chat(socket: WebSocket, agent_id: AgentId) -> None:
        await sockets.serve(socket, agent_id)

    @routes.get("/agents/{agent_id}/chat/connections")
    async def list_connections(agent_id: AgentId, principal: Reader) -> PageResponse[ConnectionResponse]:
        """Who is in the chat now; with a chat key only its own."""
        sessions.check_agent(agent_id)
        owner = None if principal.may("viewer") else principal.owner
        return {"items": sockets.connections.list_for_agent(agent_id, owner), "next_cursor": None}

    @routes.post("/agents/{agent_id}/chat/broadcast")
    async def broadcast(agent_id: AgentId, body: BroadcastBody, principal: Operator) -> BroadcastResponse:
        """Shown to whoever is in the chat at this moment, and kept nowhere."""
        sessions.check_agent(agent_id)
        entry = audit.change_entry(
            principal.owner, "chat.broadcast", agent_id, None, {"message": body.message}, clock.now()
        )
        await journal.commit(Unit("chat.broadcast", (entry,)))
        return {"connections": sockets.broadcast(agent_id, body.message)}

    @routes.get("/agents/{agent_id}/chat/sessions")
    async def list_sessions(
        agent_id: AgentId, principal: ChatUser, limit: Limit = 50, cursor: Cursor = None
    ) -> PageResponse[SessionResponse]:
        """Your sessions with the agent; the one in which something was said last comes first."""
        sessions.check_agent(agent_id)
        rows = await sessions.list_rows(agent_id, principal)
        listing = f"sessions:{agent_id}:{principal.owner}"
        page, next_cursor = paginate(cursors, listing, rows, session_sort_key, limit, cursor, newest=True)
        titles = await transcript.first_messages(journal, [row["conversation_id"] for row in page])
        return {"items": [session_view(row, titles) for row in page], "next_cursor": next_cursor}

    @routes.get("/agents/{agent_id}/chat/{session}/messages")
    async def read_messages(
        agent_id: AgentId,
        session: SessionName,
        principal: ChatUser,
        order: Order = "oldest",
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> PageResponse[TranscriptItemResponse]:
        """What was said in this session of yours, in order or the other way round."""
        sessions.check_agent(agent_id)
        conversation_id = await sessions.find(agent_id, session, principal)
        if conversation_id is None:
            return {"items": [], "next_cursor": None}
        conditions = where(conversation_id=conversation_id)
        direction = DIRECTIONS[order]
        return await pages.page(TRANSCRIPT, conditions, "seq", views.transcript_item, limit, cursor, direction)

    @routes.post("/agents/{agent_id}/chat/{session}/reset")
    async def reset(agent_id: AgentId, session: SessionName, principal: ChatUser) -> NewConversationResponse:
        """Begins this session of yours anew; what was said before stays under its own conversation id."""
        sessions.check_agent(agent_id)
        return {"conversation_id": await sessions.reset(agent_id, session, principal)}

    return routes
