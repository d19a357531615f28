"""Admits and serves the sockets of the web chat, and refuses those that may not talk."""

from fastapi import WebSocket
from pydantic import ValidationError

from parlour.core.approvals.service import ApprovalService
from parlour.core.delivery.feed import Feed
from parlour.core.encoding import loads
from parlour.core.model.ids import AgentId
from parlour.core.runs.control import RunControl
from parlour.core.texts.catalogue import match_language
from parlour.core.texts.translation import translate

from ..errors import ErrorResponses, Problem
from ..localization import accepted_language
from ..principals import Authenticator, Principal
from .connection import ChatConnection
from .frames import ChatQuery
from .missed_frames import MissedFrames
from .presence import ChatConnections
from .session import ChatSessions

REFUSED_CLOSE_CODE_BASE = 4000
"""Base of WebSocket close codes: 4000 plus the HTTP status."""
MAX_CLOSE_REASON_BYTES = 120
"""Limit for the reason of a close frame. The frame allows 123 bytes, and a Chinese character takes three."""


class ChatSockets:
    def __init__(
        self,
        sessions: ChatSessions,
        connections: ChatConnections,
        authenticator: Authenticator,
        feed: Feed,
        missed: MissedFrames,
        runs: RunControl,
        approvals: ApprovalService,
    ) -> None:
        self.connections = connections
        self._sessions = sessions
        self._authenticator = authenticator
        self._feed = feed
        self._missed = missed
        self._runs = runs
        self._approvals = approvals

    async def serve(self, socket: WebSocket, agent_id: AgentId) -> None:
        """Serves a socket until it is closed, or refuses it."""
        try:
            principal, query = await self._admit(socket, agent_id)
        except (Problem, ValidationError) as error:
            await refuse_socket(socket, error)
            return
        try:
            await self._serve_chat(socket, agent_id, principal, query)
        finally:
            self.connections.release(principal.owner)

    def broadcast(self, agent_id: AgentId, text: str) -> int:
        """Sends a message of the system to the open chats with an agent, and returns their number."""
        message = {"role": "system", "content": text}
        listening = self.connections.for_agent(agent_id)
        for each in listening:
            each.enqueue({"type": "broadcast", "message": message, "seq": self._feed.next_seq()})
        return len(listening)

    async def _admit(self, socket: WebSocket, agent_id: AgentId) -> tuple[Principal, ChatQuery]:
        principal = await self._authenticator.authorize(socket, "chat")
        self._sessions.check_agent(agent_id)
        query = ChatQuery.model_validate(dict(socket.query_params))
        await self._sessions.require_owner(agent_id, query.session, principal)
        self.connections.admit(principal.owner)
        return principal, query

    async def _serve_chat(self, socket: WebSocket, agent_id: AgentId, principal: Principal, query: ChatQuery) -> None:
        await socket.accept()
        session = await self._sessions.open(agent_id, query.session, principal, query.locale)
        connection = ChatConnection(
            socket, session, self._authenticator, self._feed, self._missed, self._runs, self._approvals
        )
        self.connections.add(connection)
        try:
            await connection.serve(query.after, query.said)
        finally:
            self.connections.remove(connection)


async def refuse_socket(socket: WebSocket, error: Problem | ValidationError) -> None:
    """Accepts the socket, sends the error and closes it, since most clients show nothing of a refused handshake."""
    responses: ErrorResponses = socket.app.state.error_responses
    answer = responses.build(error)
    error_body = loads(bytes(answer.body).decode())["error"]
    message = translate(error_body["message"], _language(socket))
    await socket.accept()
    await socket.send_json({"type": "error", "code": error_body["code"], "message": message, "seq": 0})
    reason = message.encode(errors="replace")[:MAX_CLOSE_REASON_BYTES].decode(errors="ignore")
    await socket.close(REFUSED_CLOSE_CODE_BASE + answer.status_code, reason)


def _language(socket: WebSocket) -> str:
    """Returns the language from `locale`, as for an accepted socket; otherwise from `Accept-Language`, which a page
    can't set for a socket."""
    return match_language(socket.query_params.get("locale", "")) or accepted_language(socket.headers.raw)
