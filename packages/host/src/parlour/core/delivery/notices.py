"""Notices explain a missing answer to its sender, without internals: their texts and records, and when one is sent.

A notice is an outbox row like any other.
"""

from dataclasses import replace
from typing import Literal

from parlour.core.journal import Journal, UnitBuilder
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.ids import ConversationId, OutboxId, TranscriptId
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.providers import POSSIBLY_CHARGED_CODES
from parlour.core.model.reply_allowance import ReplyUse
from parlour.core.routing.filters import mentions_bot
from parlour.core.store import event_notes, outbox_rows, transcript
from parlour.core.store.event_log import EventLog
from parlour.core.store.ledger import Ledger
from parlour.core.texts.catalogue import DEFAULT_LANGUAGE, has_text, text
from parlour.core.texts.languages import Languages

from .targets import PLATFORM

NOTICE_INTERVAL_MILLISECONDS = 600_000
"""Milliseconds between two failure notices in one conversation."""
MAX_TRACKED_CONVERSATIONS = 10_000
"""Conversations that are tracked before expired entries are removed."""
FailureCode = Literal["delivery.unknown", "delivery.refused", "delivery.not_allowed"]
_MODEL_TROUBLE = {
    **dict.fromkeys(
        ("provider_failed", "provider_timeout", "provider_unreachable", *POSSIBLY_CHARGED_CODES), "model.unavailable"
    ),
    **dict.fromkeys(("key_refused", "no_credit", "secret_unreadable"), "model.key_refused"),
    **dict.fromkeys(("model_unknown", "not_found", "not_supported"), "model.misconfigured"),
    "rate_limited": "model.limited",
    "context_too_long": "model.too_long",
    "budget_exceeded": "budget_exceeded",
}
"""The notice for each failure of a model call that is not the run's own fault, by failure code."""


def notice_text(code: str, error: str = "", language: str = DEFAULT_LANGUAGE) -> str:
    """Returns the text of a notice. Codes of the Host have a translated text; a runner's own failure uses its error."""
    key = f"notice.{code}"
    if has_text(key):
        return text(key, language)
    return error or text("notice.no_reason", language)


def model_failure_notice(code: str) -> str:
    """Returns the notice code for a failed model call; empty without a failure.

    Users never see the words of a service: they may name accounts, keys and addresses.
    """
    return _MODEL_TROUBLE.get(code, "model.unavailable" if code else "")


def quarantine_notice(cause: str) -> str:
    """Returns the notice code for an event that is not retried any more, by the side that failed each time."""
    return "quarantined.host" if cause == "host" else "quarantined"


def add_notice(draft: UnitBuilder, transcript_id: TranscriptId, event: RecordedEvent, row: OutboxRow, now: int) -> None:
    """Adds a notice to the unit: the outbox row, and a transcript item because users see it in the conversation."""
    content = row.message["content"]
    transcript.add_reply_item(draft, transcript_id, event, row.run_id, "notice", row.message, content, now)
    draft.add(outbox_rows.insert(row))
    if not row.run_id:  # a run has the notice on its own trail
        note = {"text": f"Its sender was told: {content}", event_notes.OUTBOX_IDS: [row.outbox_id]}
        draft.add(event_notes.add_note(event.seq, "notice", note, now))


def add_suppressed_notice(draft: UnitBuilder, event: RecordedEvent, suppression: str, now: int) -> None:
    """Records on the event's trail why no notice was sent."""
    draft.add(event_notes.add_note(event.seq, "notice", {"text": f"Nothing was said about it: {suppression}."}, now))


class NoticePolicy:
    """Limits failure notices on platforms. On the Host's own surfaces the sender waits, so a notice is always sent."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last_notice_at: dict[ConversationId, int] = {}

    def suppression_reason(self, event: RecordedEvent) -> str:
        """Returns the reason not to send a notice; empty if it should be sent."""
        envelope = event.envelope
        if envelope.surface != PLATFORM or envelope.principal:
            return ""
        if not _addresses_bot(envelope):
            return "nobody had addressed the bot"
        if self._clock.now() - self._last_notice_at.get(event.conversation_id, 0) < NOTICE_INTERVAL_MILLISECONDS:
            return "this conversation was told of a failure less than 10 minutes ago"
        return ""

    def record_sent(self, conversation_id: ConversationId) -> None:
        """Records that a notice for this conversation was committed."""
        now = self._clock.now()
        if len(self._last_notice_at) >= MAX_TRACKED_CONVERSATIONS:
            self._last_notice_at = {
                name: at for name, at in self._last_notice_at.items() if now - at < NOTICE_INTERVAL_MILLISECONDS
            }
        self._last_notice_at[conversation_id] = now


def _addresses_bot(envelope: EventEnvelope) -> bool:
    """Returns whether the sender addressed the bot: in a group by mention or reply. Joins and requests do not count."""
    is_message = envelope.event_type.startswith(("message.", "interaction."))
    return is_message and (envelope.data.get("chat_type") != "group" or mentions_bot(envelope))


class FailureNotices:
    """Adds failure notices to the units that mark rows as failed."""

    def __init__(self, journal: Journal, policy: NoticePolicy, languages: Languages, ids: Ids, clock: Clock) -> None:
        self._languages = languages
        self._ledger = Ledger(journal)
        self._events = EventLog(journal)
        self._policy = policy
        self._ids = ids
        self._clock = clock

    async def add_notices(self, draft: UnitBuilder, row: OutboxRow, code: FailureCode) -> list[OutboxRow]:
        """Adds a notice to the unit that fails a row, and returns the rows to send after the commit.

        Only an answer has a sender who waits for it. A notice that fails is not followed by another notice.
        """
        event = await self._answered_event(row) if row.kind == "message" else None
        if event is None:
            return []
        now = self._clock.now()
        suppression = self._policy.suppression_reason(event)
        if code == "delivery.not_allowed":
            suppression = "the platform accepts no further reply to it"
        if suppression:
            add_suppressed_notice(draft, event, suppression, now)
            return []
        notice = self._notice(row, code, self._languages.for_event(event.envelope), now)
        add_notice(draft, TranscriptId(self._ids.new()), event, notice, now)
        return [notice]

    def after_commit(self, notice: OutboxRow) -> None:
        self._policy.record_sent(notice.conversation_id)

    async def _answered_event(self, row: OutboxRow) -> RecordedEvent | None:
        """Returns the event that the row's run answers. None for rows without a run, or if the records are deleted."""
        run = await self._ledger.get_run(row.run_id) if row.run_id else None
        return await self._events.get_by_seq(run["event_seq"]) if run is not None else None

    def _notice(self, row: OutboxRow, code: FailureCode, language: str, now: int) -> OutboxRow:
        """Builds the notice row with the target of the failed row."""
        content = notice_text(code, language=language)
        return replace(
            row,
            outbox_id=OutboxId(self._ids.new()),
            kind="notice",
            state="pending",
            message={"role": "assistant", "content": content, "metadata": {"notice": code}},
            feed_seq=0,
            code=code,
            created_at=now,
            expires_at=now + row.expires_at - row.created_at,
            attempts=0,
            possibly_repeated=False,
            not_before=0,
            reason="",
            message_id="",
            reply=ReplyUse(row.reply.event_id) if row.reply is not None else None,
        )
