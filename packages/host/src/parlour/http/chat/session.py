"""A named chat session of one principal with one agent."""

from collections.abc import Mapping
from typing import Any

from parlour.core.ingest.acceptance import IngestResult
from parlour.core.ingest.gateway import Gateway
from parlour.core.journal import Row
from parlour.core.model.event import LOCALE, ConversationKey, EventContext, EventEnvelope, Participant
from parlour.core.model.ports import Clock, Ids
from parlour_sdk.values import dataclass

from ..errors import Problem
from ..principals import Principal
from .frames import MessageFrame

MAX_TITLE_LENGTH = 200


def conversation_key(agent_id: str, session: str, principal: Principal) -> ConversationKey:
    return ConversationKey("default", "webui", "", session, "", agent_id, principal.owner)


def session_sort_key(row: Row) -> str:
    """Returns the sort key of a session: the time of its last message."""
    return f"{row['updated_at']:015d} {row['conversation_id']}"


def session_view(row: Row, beginnings: Mapping[str, str]) -> dict[str, Any]:
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
    agent_id: str
    conversation_id: str
    gateway: Gateway
    ids: Ids
    clock: Clock
    locale: str = ""

    async def send(self, frame: MessageFrame, principal: Principal) -> IngestResult:
        if not (frame.text or "").strip() and not frame.contents:
            raise Problem(422, "invalid_argument", "a message needs text or contents")
        contents = [element.model_dump(mode="json", exclude_none=True) for element in frame.contents]
        return await self.gateway.ingest(
            EventEnvelope(
                event_id=self._event_id(frame.id) if frame.id else self.ids.new(),
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

    def _event_id(self, name: str) -> str:
        """Builds the event id from the client's message id. The id differs per session and from ids of the API; after a
        reset, the session still recognizes ids it used before."""
        return f"{self.event_prefix}{name}"

    @property
    def event_prefix(self) -> str:
        """Returns the part of an event id that precedes the client's message id."""
        return f"chat:{self.agent_id}:{len(self.name)}:{self.name}:"
