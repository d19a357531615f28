"""The transcript: conversations as users saw them, numbered per conversation."""

from collections.abc import Sequence
from typing import Any

from parlour.core.encoding import dumps, dumps_dict, dumps_list, loads
from parlour.core.journal import (
    Delete,
    Increment,
    Insert,
    Journal,
    Ref,
    Row,
    Select,
    Statement,
    UnitBuilder,
    Update,
    one_of,
    where,
)
from parlour.core.model.event import TEXT_REF, EventEnvelope, RecordedEvent
from parlour.core.model.ids import ConversationId, RunId, TranscriptId

from . import text_search
from .tables import CONVERSATIONS, ITEM_COLUMNS, TRANSCRIPT

MAX_ITEM_BYTES = 64 * 1024
"""Largest content of an item; longer content is cut off."""
MESSAGE_ID = "message_id"
"""Key in the metadata of a user's item: the platform's id of the message."""
MAX_CORRECTED_ITEMS = 500
"""Items of a conversation, from the newest on, among which an edited or deleted message is looked for."""
MAX_REPLIES = 100
"""Largest number of items that are read for one event."""


def add_user_item(
    draft: UnitBuilder,
    transcript_id: TranscriptId,
    event: RecordedEvent,
    now: int,
    event_seq: int | Ref | None = None,
    item_type: str = "",
) -> Ref:
    """Adds the item of an event and returns a reference to its number.

    There is one per event, which the inbox row's `transcribed` ensures. `event_seq` is given if the same unit records
    the event. `item_type` replaces the event's type.
    """
    envelope = event.envelope
    return _add(
        draft,
        event.conversation_id,
        event.envelope.event_type,
        {
            "transcript_id": transcript_id,
            "thread_id": envelope.thread_id,
            "event_id": envelope.event_id,
            "event_seq": event.seq if event_seq is None else event_seq,
            "run_id": "",
            "role": "user",
            "item_type": item_type or envelope.event_type,
            "content": _truncate(envelope.text),
            "content_json": dumps_list(envelope.input.get("contents", ())),
            "artifact_refs": dumps_list(_artifact_refs(envelope)),
            "metadata": dumps(_sender(event, now)),
        },
        now,
    )


def add_reply_item(
    draft: UnitBuilder,
    transcript_id: TranscriptId,
    event: RecordedEvent,
    run_id: RunId,
    item_type: str,
    message: dict[str, Any],
    text: str,
    now: int,
    artifact_refs: Sequence[Any] = (),
) -> Ref:
    """Adds an item of a run's reply and returns a reference to its number."""
    content = message.get("content")
    return _add(
        draft,
        event.conversation_id,
        event.envelope.event_type,
        {
            "transcript_id": transcript_id,
            "thread_id": event.envelope.thread_id,
            "event_id": event.envelope.event_id,
            "event_seq": event.seq,
            "run_id": run_id,
            "role": message["role"],
            "item_type": item_type,
            "content": _truncate(text),
            "content_json": dumps_list(content if isinstance(content, list) else ()),
            "artifact_refs": dumps_list(artifact_refs),
            "metadata": dumps_dict(message.get("metadata") or {}),
        },
        now,
    )


async def event_item_seq(journal: Journal, event: RecordedEvent) -> int:
    """Returns the number of the event's own item; zero if there is none. The newest items are searched first."""
    conditions = where(conversation_id=event.conversation_id, event_seq=event.seq, role="user")
    rows = await journal.read(Select(TRANSCRIPT, conditions, ("seq",), ("seq",), "descending", 1))
    return int(rows[0]["seq"]) if rows else 0


async def find_message(journal: Journal, conversation_id: ConversationId, message_id: str) -> Row | None:
    """Returns the item of a user's message by its id on the platform; None if it is not among the newest items."""
    conditions = where(conversation_id=conversation_id, role="user")
    rows = await journal.read(
        Select(TRANSCRIPT, conditions, TRANSCRIPT.column_names, ("seq",), "descending", MAX_CORRECTED_ITEMS)
    )
    return next((row for row in rows if loads(row["metadata"]).get(MESSAGE_ID) == message_id), None)


def replace_content(row: Row, content: str, contents: Sequence[Any], note: str) -> list[Statement]:
    """Builds the statements that give an item other content; `note` is a key that its metadata gets.

    The row is written anew, since the full-text index follows inserted and deleted rows only.
    """
    metadata = {**loads(row["metadata"]), note: True}
    words = text_search.conversation_terms(ConversationId(row["conversation_id"]), text_search.index_terms(content))
    corrected = {
        **row,
        "content": _truncate(content),
        "content_json": dumps_list(contents),
        "metadata": dumps(metadata),
        "words": " ".join(words),
    }
    return [Delete(TRANSCRIPT, where(transcript_id=row["transcript_id"])), Insert(TRANSCRIPT, corrected)]


async def first_messages(journal: Journal, conversation_ids: Sequence[ConversationId]) -> dict[str, str]:
    """Returns the first message of each conversation; conversations without messages are left out."""
    first = where(conversation_id=one_of(*conversation_ids), seq=1)
    rows = await journal.read(Select(TRANSCRIPT, first, ("conversation_id", "content")))
    return {str(row["conversation_id"]): str(row["content"]) for row in rows}


async def replies(journal: Journal, conversation_id: ConversationId, event_seq: int) -> list[Row]:
    """Returns the replies to an event, in order."""
    conditions = where(conversation_id=conversation_id, event_seq=event_seq)
    rows = await journal.read(Select(TRANSCRIPT, conditions, ITEM_COLUMNS, ("seq",), "descending", MAX_REPLIES))
    return [row for row in reversed(rows) if row["role"] != "user"]


def _add(
    draft: UnitBuilder, conversation_id: ConversationId, event_type: str, values: dict[str, str | int | Ref], now: int
) -> Ref:
    number = Update(
        CONVERSATIONS,
        {"transcript_seq": Increment(), "updated_at": now},
        where(conversation_id=conversation_id),
        returning=("transcript_seq",),
    )
    seq = Ref(draft.add(number), "transcript_seq")
    row: dict[str, str | int | bytes | Ref] = {
        **values,
        "conversation_id": conversation_id,
        "event_type": event_type,
        "words": " ".join(
            text_search.conversation_terms(conversation_id, text_search.index_terms(str(values["content"])))
        ),
        "seq": seq,
        "created_at": now,
    }
    draft.add(Insert(TRANSCRIPT, row))
    return seq


def _sender(event: RecordedEvent, now: int) -> dict[str, Any]:
    """Returns who wrote a message and when, and its id on the platform, by which it can be edited or deleted."""
    envelope = event.envelope
    optional = {"role": envelope.actor.data.get("role"), MESSAGE_ID: envelope.data.get("message_id")}
    return {
        "actor_id": envelope.actor.id,
        "actor_name": envelope.actor.name,
        "time": event.created_at or now,
        **{name: value for name, value in optional.items() if isinstance(value, str) and value},
    }


def _artifact_refs(envelope: EventEnvelope) -> list[Any]:
    """Returns references to the event's attachments, and to its full text if that is longer than an item."""
    full_text_ref = envelope.metadata.get(TEXT_REF)
    return [*envelope.input.get("attachments", ()), *([full_text_ref] if full_text_ref else [])]


def _truncate(text: str) -> str:
    """Cuts a text to 64 KiB; the whole text stays in the event log or the ledger."""
    if len(text) * 4 <= MAX_ITEM_BYTES:
        return text
    encoded = text.encode(errors="replace")
    return text if len(encoded) <= MAX_ITEM_BYTES else encoded[:MAX_ITEM_BYTES].decode(errors="ignore")
