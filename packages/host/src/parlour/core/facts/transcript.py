"""The conversation as its people saw it, numbered per conversation."""

from typing import Any

from parlour.core.encoding import dumps
from parlour.core.events.envelope import RecordedEvent
from parlour.core.journal import Draft, Increment, Insert, Ref, Update, where

from .tables import CONVERSATIONS, TRANSCRIPT

ITEM_BYTES = 64 * 1024


def add_user_item(draft: Draft, transcript_id: str, event: RecordedEvent, now: int) -> Ref:
    """Once per event: the inbox row's `transcribed` keeps that promise. Returns where the unit finds its number."""
    envelope = event.envelope
    return _add(
        draft,
        event.conversation_id,
        {
            "transcript_id": transcript_id,
            "thread_id": envelope.thread_id,
            "event_id": envelope.event_id,
            "event_seq": event.seq,
            "run_id": "",
            "role": "user",
            "item_type": envelope.event_type,
            "content": _bounded(envelope.text),
            "content_json": dumps(envelope.input.get("contents", ())),
            "metadata": dumps({"actor_id": envelope.actor.id, "actor_name": envelope.actor.name}),
        },
        now,
    )


def add_reply_item(
    draft: Draft,
    transcript_id: str,
    event: RecordedEvent,
    run_id: str,
    item_type: str,
    message: dict[str, Any],
    text: str,
    now: int,
) -> Ref:
    content = message.get("content")
    return _add(
        draft,
        event.conversation_id,
        {
            "transcript_id": transcript_id,
            "thread_id": event.envelope.thread_id,
            "event_id": event.envelope.event_id,
            "event_seq": event.seq,
            "run_id": run_id,
            "role": message["role"],
            "item_type": item_type,
            "content": _bounded(text),
            "content_json": dumps(content if isinstance(content, list) else ()),
            "metadata": dumps(message.get("metadata") or {}),
        },
        now,
    )


def _add(draft: Draft, conversation_id: str, values: dict[str, str | int], now: int) -> Ref:
    number = Update(
        CONVERSATIONS,
        {"transcript_seq": Increment(), "updated_at": now},
        where(conversation_id=conversation_id),
        returning=("transcript_seq",),
    )
    numbered = Ref(draft.add(number), "transcript_seq")
    row: dict[str, str | int | bytes | Ref] = {
        **values,
        "conversation_id": conversation_id,
        "seq": numbered,
        "artifact_refs": "[]",
        "created_at": now,
    }
    draft.add(Insert(TRANSCRIPT, row))
    return numbered


def _bounded(text: str) -> str:
    """At most 64 KiB; the whole text stays in the event log or the ledger."""
    encoded = text.encode(errors="replace")
    return text if len(encoded) <= ITEM_BYTES else encoded[:ITEM_BYTES].decode(errors="ignore")
