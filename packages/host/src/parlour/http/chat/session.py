"""Named chat sessions of a principal with an agent."""

from collections.abc import Mapping

from parlour.core.config.agents import AgentRepository
from parlour.core.ingest.acceptance import IngestResult
from parlour.core.ingest.gateway import Gateway
from parlour.core.journal import Row
from parlour.core.model.event import LOCALE, ConversationKey, EventContext, EventEnvelope, Participant
from parlour.core.model.ids import NO_BOT, AgentId, ConversationId, EventId
from parlour.core.model.ports import Clock, Ids
from parlour.core.store.conversations import Conversations
from parlour_sdk.values import dataclass

from ..errors import Problem, not_found
from ..principals import Principal
from .frames import MessageFrame
from .responses import SessionResponse

MAX_TITLE_LENGTH = 200


def conversation_key(agent_id: AgentId, session: str, principal: Principal) -> ConversationKey:
    return ConversationKey("default", "webui", NO_BOT, session, "", agent_id, principal.owner)


def session_sort_key(row: Row) -> str:
    """Returns the sort key of a session: the time of its last message."""
    return f"{row['updated_at']:015d} {row['conversation_id']}"


def session_view(row: Row, beginnings: Mapping[str, str]) -> SessionResponse:
    title = beginnings.get(row["conversation_id"], "")[:MAX_TITLE_LENGTH]
    return {
        "session": row["chat"],
        "conversation_id": row["conversation_id"],
        "items": row["transcript_seq"],
        "title": title or None,
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }


@dataclass(frozen=True, slots=True)
class ChatSession:
    name: str
    agent_id: AgentId
    principal: Principal
    conversation_id: ConversationId
    gateway: Gateway
    ids: Ids
    clock: Clock
    locale: str = ""

    async def send(self, frame: MessageFrame) -> IngestResult:
        principal = self.principal
        if not (frame.text or "").strip() and not frame.contents:
            raise Problem(422, "invalid_argument", "a message needs text or contents")
        contents = [element.model_dump(mode="json", exclude_none=True) for element in frame.contents]
        return await self.gateway.ingest(
            EventEnvelope(
                event_id=self._event_id(frame.id) if frame.id else EventId(self.ids.new()),
                event_type="message.received",
                source="webui",
                chat=self.name,
                context=EventContext(self.ids.new(), origin="webui"),
                surface="webui",
                agent_id=self.agent_id,
                principal=principal.owner,
                event_time=self.clock.now(),
                actor=Participant("user", principal.id, principal.name, {LOCALE: self.locale} if self.locale else {}),
                input={"contents": contents} if frame.text is None else {"text": frame.text, "contents": contents},
            )
        )

    def _event_id(self, name: str) -> EventId:
        """Builds the event id from the client's message id. The id differs per session and from ids of the API; after a
        reset, the session still recognizes ids it used before."""
        return EventId(f"{self.event_prefix}{name}")

    @property
    def event_prefix(self) -> str:
        """Returns the part of an event id that precedes the client's message id."""
        return f"chat:{self.agent_id}:{len(self.name)}:{self.name}:"


class ChatSessions:
    """Finds, opens and resets the sessions of principals with agents."""

    def __init__(
        self, agents: AgentRepository, conversations: Conversations, gateway: Gateway, ids: Ids, clock: Clock
    ) -> None:
        self._agents = agents
        self._conversations = conversations
        self._gateway = gateway
        self._ids = ids
        self._clock = clock

    def check_agent(self, agent_id: AgentId) -> None:
        """Raises a Problem if there is no such agent."""
        if self._agents.get(agent_id) is None:
            raise not_found(f"agent '{agent_id}'", "GET /api/v1/agents lists them")

    async def open(self, agent_id: AgentId, name: str, principal: Principal, locale: str) -> ChatSession:
        key = conversation_key(agent_id, name, principal)
        conversation_id = await self._conversations.get_or_create(key, self._ids, self._clock)
        return ChatSession(name, agent_id, principal, conversation_id, self._gateway, self._ids, self._clock, locale)

    async def require_owner(self, agent_id: AgentId, name: str, principal: Principal) -> None:
        """Raises AnsweredElsewhere if another Host owns the session's conversation."""
        await self._gateway.arrivals.require_key(conversation_key(agent_id, name, principal))

    async def list_rows(self, agent_id: AgentId, principal: Principal) -> list[Row]:
        """Returns the conversations of the principal's sessions with the agent."""
        return await self._conversations.sessions("webui", agent_id, principal.owner)

    async def find(self, agent_id: AgentId, name: str, principal: Principal) -> ConversationId | None:
        """Returns the current conversation of a session, or None if it has none."""
        return await self._conversations.find(conversation_key(agent_id, name, principal))

    async def reset(self, agent_id: AgentId, name: str, principal: Principal) -> ConversationId:
        """Starts a new conversation for the session and returns its id."""
        key = conversation_key(agent_id, name, principal)
        await self._gateway.arrivals.require_key(key)
        return await self._conversations.start_new(key, self._ids, self._clock)
