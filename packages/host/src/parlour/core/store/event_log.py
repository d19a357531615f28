"""The event log: all events, immutable and numbered in commit order."""

from parlour.core.encoding import dumps, loads
from parlour.core.journal import Insert, Journal, Ref, Row, Select, where
from parlour.core.model.event import EventContext, EventEnvelope, Participant, RecordedEvent
from parlour.core.model.ids import ConversationId
from parlour.core.model.run_request import RunRequest

from .tables import EVENTS

MAX_SUMMARY_CHARACTERS = 1000


def append(event: EventEnvelope, conversation_id: ConversationId | Ref, now: int) -> Insert:
    """Builds the statement that inserts an event; its receipt has the number.

    It fails its guard if the same event was recorded before.
    """
    return Insert(
        EVENTS,
        {
            "event_id": event.event_id,
            "event_type": event.event_type,
            "workspace_id": event.workspace_id,
            "source": event.source,
            "source_event_type": event.source_event_type,
            "bot_id": event.bot_id,
            "principal": event.principal,
            "conversation_id": conversation_id,
            "thread_id": event.thread_id,
            "actor_type": event.actor.type,
            "actor_id": event.actor.id,
            "actor_name": event.actor.name,
            "subject_type": event.subject.type,
            "subject_id": event.subject.id,
            "input_summary": event.text[:MAX_SUMMARY_CHARACTERS],
            "body": dumps(
                {
                    "chat": event.chat,
                    "surface": event.surface,
                    "agent_id": event.agent_id,
                    "input": event.input,
                    "data": event.data,
                    "actor_data": event.actor.data,
                    "subject_data": event.subject.data,
                    "metadata": event.metadata,
                    "context": _context(event.context),
                    **({"commission": event.run_request.encode()} if event.run_request else {}),
                }
            ),
            "event_time": event.event_time,
            "created_at": now,
        },
        returning=("seq",),
    )


def _context(context: EventContext) -> dict[str, str]:
    return {"id": context.id, "parent_id": context.parent_id, "origin": context.origin}


def from_row(row: Row) -> RecordedEvent:
    body = loads(row["body"])
    envelope = EventEnvelope(
        event_id=row["event_id"],
        event_type=row["event_type"],
        source=row["source"],
        chat=body["chat"],
        context=EventContext(**body["context"]),
        surface=body["surface"],
        workspace_id=row["workspace_id"],
        bot_id=row["bot_id"],
        thread_id=row["thread_id"],
        agent_id=body["agent_id"],
        principal=row["principal"],
        event_time=row["event_time"],
        source_event_type=row["source_event_type"],
        actor=Participant(row["actor_type"], row["actor_id"], row["actor_name"], body["actor_data"]),
        subject=Participant(row["subject_type"], row["subject_id"], "", body["subject_data"]),
        input=body["input"],
        data=body["data"],
        metadata=body["metadata"],
        run_request=RunRequest.decode(body["commission"]) if "commission" in body else None,
    )
    return RecordedEvent(row["seq"], row["conversation_id"], row["created_at"], envelope)


class EventLog:
    """Reads recorded events."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def find_duplicate(self, event: EventEnvelope) -> RecordedEvent | None:
        """Returns the recorded event with the same identity as this one."""
        identity = where(
            workspace_id=event.workspace_id,
            source=event.source,
            bot_id=event.bot_id,
            principal=event.principal,
            event_id=event.event_id,
        )
        rows = await self._journal.read(Select(EVENTS, identity, limit=1, point_read=True))
        return from_row(rows[0]) if rows else None

    async def get_by_seq(self, seq: int) -> RecordedEvent | None:
        rows = await self._journal.read(Select(EVENTS, where(seq=seq), limit=1))
        return from_row(rows[0]) if rows else None
