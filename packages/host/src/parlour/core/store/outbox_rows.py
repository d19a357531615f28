"""Statements and reads of the outbox: messages and actions for a surface. `core/delivery` sends them.

States: `pending` waits; `streaming` is shown while it is being written; `sending` was handed to the surface and is not
yet acknowledged; `held` waits for the next message of its chat, because the platform accepts no reply now; `sent`,
`failed` and `expired` are final. A `sending` row found at a restart is uncertain.
"""

from typing import Any

from parlour.core.cluster.parts import part_of
from parlour.core.encoding import dumps, loads
from parlour.core.journal import ANY, Insert, Journal, Row, Select, Update, above, one_of, where
from parlour.core.model.ids import BotId, ConversationId, OutboxId, PartId, RunId
from parlour.core.model.outbox_row import MESSAGE_KINDS, OutboxRow, OutboxState
from parlour.core.model.reply_allowance import ReplyUse

from .tables import OUTBOX


def _payload(row: OutboxRow) -> str:
    locale = {"locale": row.locale} if row.locale else {}
    reply = {"reply": row.reply.encode()} if row.reply is not None else {}
    return dumps({"message": row.message, "address": row.address, "code": row.code, **locale, **reply})


def insert(row: OutboxRow) -> Insert:
    """Builds the statement that inserts a row; its receipt has the number."""
    return Insert(
        OUTBOX,
        {
            "outbox_id": row.outbox_id,
            "surface": row.surface,
            "target": row.target,
            "part": part_of(row.bot_id, row.conversation_id),
            "conversation_id": row.conversation_id,
            "bot_id": row.bot_id,
            "run_id": row.run_id,
            "kind": row.kind,
            "state": row.state,
            "payload": _payload(row),
            "reason": row.reason,
            "platform_message_id": "",
            "feed_seq": row.feed_seq,
            "attempts": row.attempts,
            "possibly_repeated": int(row.possibly_repeated),
            "not_before": row.not_before,
            "expires_at": row.expires_at,
            "created_at": row.created_at,
            "updated_at": row.created_at,
        },
        returning=("seq",),
    )


def complete_stream(row: OutboxRow, now: int) -> Update:
    """Builds the statement that stores the complete message in the row of a streamed one."""
    values: dict[str, Any] = {
        "state": row.state,
        "payload": _payload(row),
        "reason": row.reason,
        "feed_seq": row.feed_seq,
        "expires_at": row.expires_at,
        "updated_at": now,
    }
    return Update(OUTBOX, values, where(outbox_id=row.outbox_id, state="streaming"))


def record_message_id(outbox_id: OutboxId, message_id: str, now: int) -> Update:
    """Builds the statement that records the platform's message id under which a streamed message is shown."""
    values: dict[str, Any] = {"platform_message_id": message_id, "updated_at": now}
    return Update(OUTBOX, values, where(outbox_id=outbox_id, platform_message_id=""), expect=ANY)


def fail_streams(run_id: RunId, reason: str, now: int) -> Update:
    """Builds the statement that marks messages as failed that were still being streamed when their run ended."""
    return Update(
        OUTBOX,
        {"state": "failed", "reason": reason, "updated_at": now},
        where(run_id=run_id, state="streaming"),
        expect=ANY,
    )


def transition(
    row: OutboxRow, source: OutboxState, target: OutboxState, now: int, reason: str = "", message_id: str = ""
) -> Update:
    """Builds the statement that moves a row from one state to another. It fails its guard in any other state."""
    values: dict[str, Any] = {
        "state": target,
        "reason": reason,
        **({"platform_message_id": message_id} if message_id else {}),
        "attempts": row.attempts,
        "possibly_repeated": int(row.possibly_repeated),
        "not_before": row.not_before,
        "updated_at": now,
        **({"payload": _payload(row)} if row.reply is not None else {}),
    }
    return Update(OUTBOX, values, where(outbox_id=row.outbox_id, state=source))


def hold(row: OutboxRow, reason: str, now: int) -> Update:
    """Builds the statement that holds a pending reply until the next message of its chat, or until it expires."""
    values: dict[str, Any] = {
        "state": "held",
        "reason": reason,
        "payload": _payload(row),
        "expires_at": row.expires_at,
        "updated_at": now,
    }
    return Update(OUTBOX, values, where(outbox_id=row.outbox_id, state="pending"))


def release(row: OutboxRow, now: int) -> Update:
    """Builds the statement that lets a held reply be sent again.

    It has no guard: it is part of the unit that accepts an event.
    """
    values: dict[str, Any] = {
        "state": "pending",
        "reason": "",
        "payload": _payload(row),
        "not_before": row.not_before,
        "expires_at": row.expires_at,
        "updated_at": now,
    }
    return Update(OUTBOX, values, where(outbox_id=row.outbox_id, state="held"), expect=ANY)


def from_row(row: Row) -> OutboxRow:
    payload = loads(row["payload"])
    return OutboxRow(
        outbox_id=row["outbox_id"],
        surface=row["surface"],
        target=row["target"],
        conversation_id=row["conversation_id"],
        bot_id=row["bot_id"],
        run_id=row["run_id"],
        kind=row["kind"],
        state=row["state"],
        message=payload["message"],
        address=payload["address"],
        feed_seq=row["feed_seq"],
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        code=payload["code"],
        locale=payload.get("locale", ""),
        seq=row["seq"],
        attempts=row["attempts"],
        possibly_repeated=bool(row["possibly_repeated"]),
        not_before=row["not_before"],
        reason=row["reason"],
        message_id=row["platform_message_id"],
        reply=ReplyUse(**payload["reply"]) if "reply" in payload else None,
    )


def _is_same_chat(first: OutboxRow, second: OutboxRow) -> bool:
    """Returns whether two rows address the same chat; an address without an account matches any account."""
    accounts = {row.address.get("account") for row in (first, second)} - {None, ""}
    chats = {(row.address.get("chat_type"), row.address.get("chat_id")) for row in (first, second)}
    return len(accounts) < 2 and len(chats) == 1


class OutboxStore:
    """Reads rows of the outbox."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def unfinished(self, part: PartId | None = None) -> list[OutboxRow]:
        """Returns the rows that wait or are being sent, of all parts or of one."""
        in_part = () if part is None else where(part=part)
        query = Select(OUTBOX, where(state=one_of("pending", "sending")) + in_part, order=("seq",))
        return [from_row(row) for row in await self._journal.read(query)]

    async def held(self, bot_id: BotId, chat: str, now: int) -> list[OutboxRow]:
        """Returns the held replies of a chat that have not expired, in order."""
        query = Select(OUTBOX, where(state="held", bot_id=bot_id), order=("seq",))
        rows = [from_row(row) for row in await self._journal.read(query)]
        return [row for row in rows if row.address.get("chat") == chat and row.expires_at > now]

    async def get(self, outbox_id: OutboxId) -> OutboxRow | None:
        rows = await self._journal.read(Select(OUTBOX, where(outbox_id=outbox_id), limit=1))
        return from_row(rows[0]) if rows else None

    async def is_known_message(self, row: OutboxRow, message_id: str) -> bool:
        """Returns whether a message with this platform id was sent in the row's chat.

        A chat can have several targets: a new conversation in it is another one, and so is a chat that was addressed
        explicitly.
        """
        query = Select(OUTBOX, where(platform_message_id=message_id, bot_id=row.bot_id))
        return any(_is_same_chat(from_row(each), row) for each in await self._journal.read(query))

    async def shown_by_run(self, run_id: RunId) -> list[OutboxRow]:
        """Returns the run's messages and notices that were or will be shown to users, in order."""
        query = Select(
            OUTBOX,
            where(run_id=run_id, kind=one_of(*MESSAGE_KINDS), state=one_of("sent", "sending", "pending", "held")),
            order=("seq",),
            point_read=True,
        )
        return [from_row(row) for row in await self._journal.read(query)]

    async def shown_after(self, conversation_id: ConversationId, feed_seq: int, limit: int) -> list[OutboxRow]:
        visible_states = one_of("sent", "sending", "pending")
        conditions = where(conversation_id=conversation_id, feed_seq=above(feed_seq), state=visible_states)
        query = Select(OUTBOX, conditions, order=("feed_seq",), limit=limit)
        return [from_row(row) for row in await self._journal.read(query)]

    async def streaming_rows(self, run_id: RunId) -> list[OutboxRow]:
        """Returns the run's messages that are being streamed."""
        query = Select(OUTBOX, where(run_id=run_id, state="streaming"), order=("seq",), point_read=True)
        return [from_row(row) for row in await self._journal.read(query)]

    async def last_feed_seq(self, conversation_id: ConversationId) -> int:
        query = Select(
            OUTBOX,
            where(conversation_id=conversation_id),
            ("feed_seq",),
            order=("feed_seq",),
            direction="descending",
            limit=1,
        )
        rows = await self._journal.read(query)
        return int(rows[0]["feed_seq"]) if rows else 0
