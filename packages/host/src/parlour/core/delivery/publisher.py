"""Publishes rows after their unit is committed: to the feed, to the outbox, or back if the commit failed."""

from collections.abc import Sequence

from parlour.core.journal import GuardFailed, Journal, StorageFailed, Unit, UnitBuilder
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ids import ConversationId, RunId
from parlour.core.model.outbox_row import OutboxRow

from .feed import Feed
from .notices import NoticePolicy
from .outbox import Outbox
from .row_states import SentMessageHook
from .streaming.streams import Streams
from .typing_indicator import TypingIndicator


class DeliveryPublisher:
    """Hands committed rows to the feed or the outbox, and shows when a run starts and ends."""

    def __init__(
        self,
        feed: Feed,
        outbox: Outbox,
        streams: Streams,
        typing: TypingIndicator,
        notice_policy: NoticePolicy,
        sent_hook: SentMessageHook,
    ) -> None:
        self._feed = feed
        self._outbox = outbox
        self._streams = streams
        self._typing = typing
        self._notice_policy = notice_policy
        self._sent_hook = sent_hook

    def run_started(self, event: RecordedEvent, run_id: RunId) -> None:
        self._feed.run_started(event.conversation_id, run_id)
        self._typing.start(event, run_id)

    def run_ended(self, conversation_id: ConversationId, run_id: RunId, status: str, feed_seq: int) -> None:
        self._typing.stop(run_id)
        self._feed.run_ended(conversation_id, run_id, status, feed_seq)

    def add_response_events(self, draft: UnitBuilder, rows: Sequence[OutboxRow]) -> None:
        """Adds the response events for rows that count as sent as soon as their unit is committed."""
        for row in rows:
            if row.state == "sent":
                self._sent_hook.add_events(draft, row)

    def after_commit(self, rows: list[OutboxRow]) -> None:
        """Publishes or enqueues rows whose unit is committed."""
        for row in rows:
            if row.kind == "notice":
                self._notice_policy.record_sent(row.conversation_id)
            match row.state:
                case "sent":
                    self._feed.publish_row(row)
                    self._sent_hook.after_commit(row)
                case "failed":
                    self._streams.retract(row)
                case _:
                    self._outbox.enqueue(row)

    def after_rollback(self, rows: list[OutboxRow], failure: GuardFailed | StorageFailed) -> None:
        """Releases rows whose commit failed. If the result of the commit is unknown, the outbox checks for them."""
        for row in rows:
            self._streams.drop(row.outbox_id)
            if row.state == "sending":
                self._outbox.release(row.target)
            if isinstance(failure, StorageFailed) and failure.uncertain and row.state in ("pending", "sending"):
                # if it is not stored in this state, the guard of its first state change fails and the row is reloaded
                self._outbox.enqueue(row.with_state("pending"))

    async def deliver(self, journal: Journal, unit: Unit, rows: list[OutboxRow]) -> None:
        """Commits a unit that stores these rows, then publishes or enqueues them."""
        try:
            await journal.commit(unit)
        except (GuardFailed, StorageFailed) as failure:
            self.after_rollback(rows, failure)
            raise
        self.after_commit(rows)
