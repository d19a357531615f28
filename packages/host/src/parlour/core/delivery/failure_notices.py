"""Informs the sender that an answer could not be delivered. The notice is an outbox row like any other."""

from dataclasses import replace
from typing import Literal

from parlour.core.journal import Journal, UnitBuilder
from parlour.core.model.event import RecordedEvent
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import Clock, Ids
from parlour.core.store.event_log import EventLog
from parlour.core.store.ledger import Ledger
from parlour.core.texts.languages import Languages

from . import notices
from .notice_policy import NoticePolicy

FailureCode = Literal["delivery.unknown", "delivery.refused"]


class FailureNotices:
    """Adds failure notices to the units that mark rows as failed."""

    def __init__(self, journal: Journal, tact: NoticePolicy, languages: Languages, ids: Ids, clock: Clock) -> None:
        self._languages = languages
        self._ledger = Ledger(journal)
        self._events = EventLog(journal)
        self._tact = tact
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
        silence = self._tact.suppression_reason(event)
        if silence:
            notices.add_suppressed_notice(draft, event, silence, now)
            return []
        notice = self._notice(row, code, self._languages.for_event(event.envelope), now)
        notices.add_notice(draft, self._ids.new(), event, notice, now)
        return [notice]

    def after_commit(self, notice: OutboxRow) -> None:
        self._tact.record_sent(notice.conversation_id)

    async def _answered_event(self, row: OutboxRow) -> RecordedEvent | None:
        """Returns the event that the row's run answers. None for rows without a run, or if the records are deleted."""
        run = await self._ledger.get_run(row.run_id) if row.run_id else None
        return await self._events.get_by_seq(run["event_seq"]) if run is not None else None

    def _notice(self, row: OutboxRow, code: FailureCode, language: str, now: int) -> OutboxRow:
        """Builds the notice row with the target of the failed row."""
        sentence = notices.notice_text(code, language=language)
        return replace(
            row,
            outbox_id=self._ids.new(),
            kind="notice",
            state="pending",
            message={"role": "assistant", "content": sentence, "metadata": {"notice": code}},
            feed_seq=0,
            code=code,
            created_at=now,
            expires_at=now + row.expires_at - row.created_at,
            attempts=0,
            possibly_repeated=False,
            not_before=0,
            reason="",
            message_id="",
        )
