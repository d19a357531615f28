"""Queries of outbox rows."""

import pytest

from parlour.core.journal import Unit
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.store import outbox_rows
from parlour.core.store.outbox_rows import OutboxStore
from parlour.testing import MemoryJournal

ADDRESS = {"chat_type": "private", "chat_id": "7", "account": "10001"}


def row(outbox_id: str, address: dict[str, str], bot_id: str = "bot", target: str = "conversation") -> OutboxRow:
    message = {"content": "hello"}
    return OutboxRow(outbox_id, "platform", target, "", bot_id, "", "message", "sending", message, address, 0, 0, 0)


@pytest.mark.parametrize(
    ("other", "known"),
    [
        (row("b", ADDRESS), True),
        (row("b", ADDRESS, target="new conversation"), True),
        (row("b", {**ADDRESS, "account": ""}, target="bot//private/7/"), True),
        (row("b", {**ADDRESS, "account": "10002"}), False),
        (row("b", {**ADDRESS, "chat_id": "8"}), False),
        (row("b", {**ADDRESS, "chat_type": "group"}), False),
        (row("b", ADDRESS, bot_id="another"), False),
    ],
)
async def test_message_id_is_known_only_in_the_chat_it_was_sent_to(other: OutboxRow, known: bool) -> None:
    journal, sent = MemoryJournal(), row("a", ADDRESS)
    changed = outbox_rows.transition(sent, "sending", "sent", 1, message_id="500")
    await journal.commit(Unit("test", (outbox_rows.insert(sent), changed)))
    assert await OutboxStore(journal).is_known_message(other, "500") == known
