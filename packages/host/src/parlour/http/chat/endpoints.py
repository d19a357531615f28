"""Endpoints of the web chat: the socket, its sessions and their history."""

from typing import Annotated

from fastapi import APIRouter, Path, WebSocket
from pydantic import ValidationError

from parlour.core.access import audit
from parlour.core.approvals.service import ApprovalService
from parlour.core.config.agents import AgentRepository
from parlour.core.delivery.feed import Feed
from parlour.core.encoding import loads
from parlour.core.ingest.gateway import Gateway
from parlour.core.journal import Journal, Unit, where
from parlour.core.model.ports import Clock, Ids
from parlour.core.pagination import Cursors
from parlour.core.runs.control import RunControl
from parlour.core.store import transcript
from parlour.core.store.conversations import Conversations
from parlour.core.store.ledger import Ledger
from parlour.core.store.outbox_rows import OutboxStore
from parlour.core.store.tables import TRANSCRIPT
from parlour.core.texts.catalogue import match_language
from parlour.core.texts.translation import translate

from .. import views
from ..api_router import ApiRouter
from ..auth import ChatUser, Operator, Reader
from ..conversations.responses import TranscriptItemResponse
from ..errors import Problem, not_found, response_for_error
from ..localization import accepted_language
from ..pagination import DIRECTIONS, Cursor, Limit, Order, Pages, paginate
from ..principals import Authenticator, Principal
from ..responses import NewConversationResponse, PageResponse
from .connection import ChatConnection
from .frames import BroadcastBody, ChatQuery
from .presence import ChatConnections, ChatLimits
from .responses import BroadcastResponse, ConnectionResponse, SessionResponse
from .session import ChatSession, conversation_key, session_sort_key, session_view
from .user_messages import UserMessageHistory

SessionName = Annotated[str, Path(min_length=1, max_length=200)]
REFUSED_CLOSE_CODE_BASE = 4000
"""Base of WebSocket close codes: 4000 plus the HTTP status."""
MAX_CLOSE_REASON_BYTES = 120
"""Limit for the reason of a close frame. The frame allows 123 bytes, and a Chinese character takes three."""


def router(
    journal: Journal,
    agents: AgentRepository,
    gateway: Gateway,
    conversations: Conversations,
    feed: Feed,
    control: RunControl,
    approvals: ApprovalService,
    authenticator: Authenticator,
    pages: Pages,
    cursors: Cursors,
    ids: Ids,
    clock: Clock,
    limits: ChatLimits,
) -> APIRouter:
    routes = ApiRouter(tags=["chat"])
    rows, said, ledger, connections = (
        OutboxStore(journal),
        UserMessageHistory(journal),
        Ledger(journal),
        ChatConnections(clock, limits),
    )

    def check_agent(agent_id: str) -> None:
        if agents.get(agent_id) is None:
            raise not_found(f"agent '{agent_id}'", "GET /api/v1/agents lists them")

    async def admit(socket: WebSocket, agent_id: str) -> tuple[Principal, ChatQuery]:
        principal = await authenticator.authorize(socket, "chat")
        check_agent(agent_id)
        query = ChatQuery.model_validate(dict(socket.query_params))
        connections.admit(principal.owner)
        return principal, query

    @routes.websocket("/agents/{agent_id}/chat/ws")
    async def chat(socket: WebSocket, agent_id: str) -> None:
        try:
            principal, query = await admit(socket, agent_id)
        except (Problem, ValidationError) as error:
            await refuse_socket(socket, error)
            return
        try:
            await talk(socket, agent_id, principal, query)
        finally:
            connections.release(principal.owner)

    async def talk(socket: WebSocket, agent_id: str, principal: Principal, query: ChatQuery) -> None:
        """Serves an admitted socket until it is closed."""
        await socket.accept()
        key = conversation_key(agent_id, query.session, principal)
        conversation_id = await conversations.get_or_create(key, ids, clock)
        session = ChatSession(query.session, agent_id, conversation_id, gateway, ids, clock, query.locale)
        connection = ChatConnection(
            socket, session, principal, authenticator, feed, rows, said, ledger, control, approvals
        )
        connections.add(connection)
        try:
            await connection.serve(query.after, query.said)
        finally:
            connections.remove(connection)

    @routes.get("/agents/{agent_id}/chat/connections")
    async def list_connections(agent_id: str, principal: Reader) -> PageResponse[ConnectionResponse]:
        """Who is in the chat now; with a chat key only its own."""
        check_agent(agent_id)
        told = connections.list_for_agent(agent_id, None if principal.may("viewer") else principal.owner)
        return {"items": told, "next_cursor": None}

    @routes.post("/agents/{agent_id}/chat/broadcast")
    async def broadcast(agent_id: str, body: BroadcastBody, principal: Operator) -> BroadcastResponse:
        """Shown to whoever is in the chat at this moment, and kept nowhere."""
        check_agent(agent_id)
        entry = audit.change_entry(
            principal.owner, "chat.broadcast", agent_id, None, {"message": body.message}, clock.now()
        )
        await journal.commit(Unit("chat.broadcast", (entry,)))
        message = {"role": "system", "content": body.message}
        listening = connections.for_agent(agent_id)
        for each in listening:
            each.enqueue({"type": "broadcast", "message": message, "seq": feed.next_seq()})
        return {"connections": len(listening)}

    @routes.get("/agents/{agent_id}/chat/sessions")
    async def list_sessions(
        agent_id: str, principal: ChatUser, limit: Limit = 50, cursor: Cursor = None
    ) -> PageResponse[SessionResponse]:
        """Your sessions with the agent; the one in which something was said last comes first."""
        check_agent(agent_id)
        rows = await conversations.sessions("webui", agent_id, principal.owner)
        listing = f"sessions:{agent_id}:{principal.owner}"
        shown, more = paginate(cursors, listing, rows, session_sort_key, limit, cursor, newest=True)
        titles = await transcript.first_messages(journal, [row["conversation_id"] for row in shown])
        return {"items": [session_view(row, titles) for row in shown], "next_cursor": more}

    @routes.get("/agents/{agent_id}/chat/{session}/messages")
    async def read_messages(
        agent_id: str,
        session: SessionName,
        principal: ChatUser,
        order: Order = "oldest",
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> PageResponse[TranscriptItemResponse]:
        """What was said in this session of yours, in order or the other way round."""
        check_agent(agent_id)
        conversation_id = await conversations.find(conversation_key(agent_id, session, principal))
        if conversation_id is None:
            return {"items": [], "next_cursor": None}
        conditions = where(conversation_id=conversation_id)
        way = DIRECTIONS[order]
        return await pages.page(TRANSCRIPT, conditions, "seq", views.transcript_item, limit, cursor, way)

    @routes.post("/agents/{agent_id}/chat/{session}/reset")
    async def reset(agent_id: str, session: SessionName, principal: ChatUser) -> NewConversationResponse:
        """Begins this session of yours anew; what was said before stays under its own conversation id."""
        check_agent(agent_id)
        key = conversation_key(agent_id, session, principal)
        return {"conversation_id": await conversations.start_new(key, ids, clock)}

    return routes


async def refuse_socket(socket: WebSocket, error: Problem | ValidationError) -> None:
    """Accepts the socket, sends the error and closes it, since most clients show nothing of a refused handshake."""
    answer = response_for_error(error)
    told = loads(bytes(answer.body).decode())["error"]
    message = translate(told["message"], _language(socket))
    await socket.accept()
    await socket.send_json({"type": "error", "code": told["code"], "message": message, "seq": 0})
    reason = message.encode(errors="replace")[:MAX_CLOSE_REASON_BYTES].decode(errors="ignore")
    await socket.close(REFUSED_CLOSE_CODE_BASE + answer.status_code, reason)


def _language(socket: WebSocket) -> str:
    """Returns the language from `locale`, as for an accepted socket; otherwise from `Accept-Language`, which a page
    can't set for a socket."""
    return match_language(socket.query_params.get("locale", "")) or accepted_language(socket.headers.raw)
