"""Statements and reads of the outbox: messages and actions for a surface. `core/delivery` sends them.

States: `pending` waits; `streaming` is shown while it is being written; `sending` was handed to the surface and is not
yet acknowledged; `sent`, `failed` and `expired` are final. A `sending` row found at a restart is uncertain.
"""

from typing import Any

from parlour.core.encoding import dumps, loads
from parlour.core.journal import ANY, Insert, Journal, Row, Select, Update, above, one_of, where
from parlour.core.model.outbox_row import SAID, Outgoing, State

from .tables import OUTBOX


def _payload(row: Outgoing) -> str:
    locale = {"locale": row.locale} if row.locale else {}
    return dumps({"message": row.message, "address": row.address, "code": row.code, **locale})


def put(row: Outgoing) -> Insert:
    """Inserts a row and returns its number."""
    return Insert(
        OUTBOX,
        {
            "outbox_id": row.outbox_id,
            "surface": row.surface,
            "target": row.target,
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


def finish_stream(row: Outgoing, now: int) -> Update:
    """Stores the complete message in the row of a streamed one."""
    values: dict[str, Any] = {
        "state": row.state,
        "payload": _payload(row),
        "reason": row.reason,
        "feed_seq": row.feed_seq,
        "expires_at": row.expires_at,
        "updated_at": now,
    }
    return Update(OUTBOX, values, where(outbox_id=row.outbox_id, state="streaming"))


def bubble(outbox_id: str, message_id: str, now: int) -> Update:
    """Records the platform's message id under which a streamed message is shown."""
    values: dict[str, Any] = {"platform_message_id": message_id, "updated_at": now}
    return Update(OUTBOX, values, where(outbox_id=outbox_id, platform_message_id=""), expect=ANY)


def break_streams(run_id: str, reason: str, now: int) -> Update:
    """Marks messages as failed that were still being streamed when their run ended."""
    return Update(
        OUTBOX,
        {"state": "failed", "reason": reason, "updated_at": now},
        where(run_id=run_id, state="streaming"),
        expect=ANY,
    )


def change(row: Outgoing, source: State, target: State, now: int, reason: str = "", message_id: str = "") -> Update:
    """Moves a row from one state to another. Fails its guard in any other state."""
    values: dict[str, Any] = {
        "state": target,
        "reason": reason,
        **({"platform_message_id": message_id} if message_id else {}),
        "attempts": row.attempts,
        "possibly_repeated": int(row.possibly_repeated),
        "not_before": row.not_before,
        "updated_at": now,
    }
    return Update(OUTBOX, values, where(outbox_id=row.outbox_id, state=source))


def restore(row: Row) -> Outgoing:
    payload = loads(row["payload"])
    return Outgoing(
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
    )


def _in_one_chat(one: Outgoing, other: Outgoing) -> bool:
    """Returns whether two rows address the same chat; an address without an account matches any account."""
    accounts = {row.address.get("account") for row in (one, other)} - {None, ""}
    chats = {(row.address.get("chat_type"), row.address.get("chat_id")) for row in (one, other)}
    return len(accounts) < 2 and len(chats) == 1


class OutgoingRows:
    """Reads rows of the outbox."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def unfinished(self) -> list[Outgoing]:
        query = Select(OUTBOX, where(state=one_of("pending", "sending")), order=("seq",))
        return [restore(row) for row in await self._journal.read(query)]

    async def get(self, outbox_id: str) -> Outgoing | None:
        rows = await self._journal.read(Select(OUTBOX, where(outbox_id=outbox_id), limit=1))
        return restore(rows[0]) if rows else None

    async def holds(self, row: Outgoing, message_id: str) -> bool:
        """Returns whether a message with this platform id was sent in the row's chat.

        A chat can have several targets: a new conversation in it is another one, and so is a chat that was addressed
        explicitly.
        """
        query = Select(OUTBOX, where(platform_message_id=message_id, bot_id=row.bot_id))
        return any(_in_one_chat(restore(each), row) for each in await self._journal.read(query))

    async def of_run(self, run_id: str) -> list[Outgoing]:
        """Returns the run's messages and notices that were shown to the users of the conversation, in order."""
        query = Select(
            OUTBOX,
            where(run_id=run_id, kind=one_of(*SAID), state=one_of("sent", "sending", "pending")),
            order=("seq",),
            few=True,
        )
        return [restore(row) for row in await self._journal.read(query)]

    async def shown_after(self, conversation_id: str, feed_seq: int, limit: int) -> list[Outgoing]:
        shown = one_of("sent", "sending", "pending")
        conditions = where(conversation_id=conversation_id, feed_seq=above(feed_seq), state=shown)
        query = Select(OUTBOX, conditions, order=("feed_seq",), limit=limit)
        return [restore(row) for row in await self._journal.read(query)]

    async def streaming(self, run_id: str) -> list[Outgoing]:
        """Returns the run's messages that are being streamed."""
        query = Select(OUTBOX, where(run_id=run_id, state="streaming"), order=("seq",), few=True)
        return [restore(row) for row in await self._journal.read(query)]

    async def last_feed_seq(self, conversation_id: str) -> int:
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
