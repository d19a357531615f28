"""Inlines history into a run's context, only if its runner asks for it and never beyond the Host's own limits."""

from typing import Any

from parlour.core.journal import Journal, Row, Select, below, where
from parlour.core.model.event import RecordedEvent
from parlour.core.store.tables import TRANSCRIPT
from parlour_sdk.protocol.limits import BOOTSTRAP_BYTES, BOOTSTRAP_ITEMS
from parlour_sdk.protocol.manifest import ContextPolicy
from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class InlineHistory:
    """The inlined messages, and the policy that was applied."""

    inline_policy: dict[str, Any]
    bootstrap: dict[str, Any] | None = None


NO_HISTORY = InlineHistory({"mode": "none"})


async def select_inline_history(
    journal: Journal, policy: ContextPolicy, event: RecordedEvent, transcript_seq: int
) -> InlineHistory:
    """Selects the messages to inline. `transcript_seq` is the number of the event's own item; the tail is what came
    before.
    """
    match policy.bootstrap:
        case "none":
            return NO_HISTORY
        case "current_event":
            text = event.envelope.text
            inlined = {"mode": "current_event", "delivered_count": 1, "messages_complete": transcript_seq <= 1}
            return InlineHistory(inlined, {"messages": [{"role": "user", "content": text}]})
        case "recent_tail":
            return await _tail(journal, policy, event, transcript_seq)


async def _tail(journal: Journal, policy: ContextPolicy, event: RecordedEvent, transcript_seq: int) -> InlineHistory:
    most = min(policy.max_inline_events, BOOTSTRAP_ITEMS)
    query = Select(
        TRANSCRIPT,
        where(conversation_id=event.conversation_id, thread_id=event.envelope.thread_id, seq=below(transcript_seq)),
        ("role", "content", "seq"),
        order=("seq",),
        direction="descending",
        limit=most,
    )
    rows = await journal.read(query) if most else []
    chosen = _fit_bytes(rows, min(policy.max_inline_bytes or BOOTSTRAP_BYTES, BOOTSTRAP_BYTES))
    earlier = max(transcript_seq - 1, 0)
    inlined = {
        "mode": "recent_tail",
        "delivered_count": len(chosen),
        "source_total_count": earlier,
        "messages_complete": len(chosen) == earlier,
        "reason": None if len(chosen) == len(rows) else "the rest is over the size that may be inlined",
    }
    messages = [{"role": _role(row), "content": row["content"]} for row in reversed(chosen)]
    return InlineHistory(inlined, {"messages": messages})


def _fit_bytes(rows: list[Row], size: int) -> list[Row]:
    """Returns the newest rows that fit. The first row that does not fit ends the selection, so that there is no gap."""
    chosen: list[Row] = []
    for row in rows:
        size -= len(str(row["content"]).encode())
        if size < 0:
            break
        chosen.append(row)
    return chosen


def _role(row: Row) -> str:
    return str(row["role"]) if row["role"] in ("user", "assistant", "system", "tool") else "system"
