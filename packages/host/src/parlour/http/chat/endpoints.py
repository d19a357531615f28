"""The chat socket and its history."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, WebSocket
from pydantic import ValidationError

from parlour.core.access import audit
from parlour.core.agents.book import AgentBook
from parlour.core.approvals.approvals import Approvals
from parlour.core.delivery.feed import Feed
from parlour.core.encoding import loads
from parlour.core.events.gateway import Gateway
from parlour.core.facts.conversations import Conversations
from parlour.core.facts.ledger import Ledger
from parlour.core.facts.outgoing import OutgoingRows
from parlour.core.facts.tables import TRANSCRIPT
from parlour.core.journal import Journal, Unit, where
from parlour.core.ports import Clock, Ids
from parlour.core.runs.session import Sessions

from .. import views
from ..auth import Authenticator, Chatter, Operator, Principal, Reader
from ..errors import Problem, answer_for, not_found
from ..paging import Cursor, Limit, Pages
from .connection import ChatConnection
from .connections import Connections
from .frames import BroadcastBody, ChatQuery
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
    approvals: Approvals,
    authenticator: Authenticator,
    pages: Pages,
    ids: Ids,
    clock: Clock,
) -> APIRouter:
    routes = APIRouter(tags=["chat"])
    rows, ledger, connections = OutgoingRows(journal), Ledger(journal), Connections(clock)

    def check_agent(agent_id: str) -> None:
        if agents.get(agent_id) is None:
            raise not_found(f"agent '{agent_id}'", "GET /api/v1/agents lists them")

    async def admit(socket: WebSocket, agent_id: str) -> tuple[Principal, ChatQuery]:
        principal = await authenticator.admit(socket, "chat")
        check_agent(agent_id)
        return principal, ChatQuery.model_validate(dict(socket.query_params))

    @routes.websocket("/agents/{agent_id}/chat/ws")
    async def chat(socket: WebSocket, agent_id: str) -> None:
        try:
            principal, query = await admit(socket, agent_id)
        except (Problem, ValidationError) as error:
            await refuse(socket, error)
            return
        await socket.accept()
        key = conversation_key(agent_id, query.session, principal)
        conversation_id = await conversations.open(key, ids, clock)
        talk = ChatSession(query.session, agent_id, conversation_id, gateway, ids, clock)
        connection = ChatConnection(
            socket, talk, principal, authenticator, feed, rows, ledger, sessions, approvals, clock
        )
        connections.add(connection)
        try:
            await connection.serve(query.after)
        finally:
            connections.remove(connection)

    @routes.get("/agents/{agent_id}/chat/connections")
    async def list_connections(agent_id: str, principal: Reader) -> dict[str, Any]:
        """Who is in the chat now; with a chat key only its own."""
        check_agent(agent_id)
        told = connections.told(agent_id, None if principal.may("viewer") else principal.owner)
        return {"items": told, "next_cursor": None}

    @routes.post("/agents/{agent_id}/chat/broadcast")
    async def broadcast(agent_id: str, body: BroadcastBody, principal: Operator) -> dict[str, Any]:
        """Shown to whoever is in the chat at this moment, and kept nowhere."""
        check_agent(agent_id)
        entry = audit.admin(principal.owner, "chat.broadcast", agent_id, None, {"message": body.message}, clock.now())
        await journal.commit(Unit("chat.broadcast", (entry,)))
        message = {"role": "system", "content": body.message}
        listening = connections.of(agent_id)
        for each in listening:
            each.show({"type": "broadcast", "message": message, "seq": feed.stamp()})
        return {"connections": len(listening)}

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

    @routes.post("/agents/{agent_id}/chat/{session}/reset")
    async def reset(agent_id: str, session: SessionName, principal: Chatter) -> dict[str, Any]:
        """Begins this session of yours anew; what was said before stays under its own conversation id."""
        check_agent(agent_id)
        key = conversation_key(agent_id, session, principal)
        return {"conversation_id": await conversations.renew(key, ids, clock)}

    return routes


async def refuse(socket: WebSocket, error: Problem | ValidationError) -> None:
    """A sentence first, since most clients show nothing of a refused handshake."""
    answer = answer_for(error)
    told = loads(bytes(answer.body).decode())["error"]
    await socket.accept()
    await socket.send_json({"type": "error", "code": told["code"], "message": told["message"], "seq": 0})
    await socket.close(REFUSED + answer.status_code, told["message"][:120])
