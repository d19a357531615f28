"""Makes outbox rows out of what a run says, and hands them on once they are durable.

The target is taken from the event, never from the runner: a reply goes where its event came from.
"""

from typing import Any

from parlour.core.events.envelope import RecordedEvent
from parlour.core.facts.outgoing import Kind, Outgoing, State
from parlour.core.journal import GuardFailed, Journal, StorageFailed, Unit
from parlour.core.ports import Clock, Ids

from .feed import Feed
from .outbox import Outbox

EXPIRY_MILLISECONDS = 3600 * 1000


class Delivery:
    def __init__(self, feed: Feed, outbox: Outbox, ids: Ids, clock: Clock) -> None:
        self.feed = feed
        self._outbox = outbox
        self._ids = ids
        self._clock = clock

    def streams(self, event: RecordedEvent) -> bool:
        """Whether its people see a message grow."""
        return event.envelope.surface == "webui"

    def compose(
        self, event: RecordedEvent, run_id: str, kind: Kind, message: dict[str, Any], code: str = ""
    ) -> Outgoing:
        """A row for this conversation, in the state that it is committed in."""
        now = self._clock.now()
        target = event.conversation_id
        envelope = event.envelope
        state: State = self._outbox.reserve(target) if self._outbox.sends(envelope.surface) else "sent"
        return Outgoing(
            outbox_id=self._ids.new(),
            surface=envelope.surface,
            target=target,
            conversation_id=event.conversation_id,
            bot_id=envelope.bot_id,
            run_id=run_id,
            kind=kind,
            state=state,
            message=message,
            address={"chat": envelope.chat, "thread_id": envelope.thread_id},
            feed_seq=self.feed.stamp(),
            created_at=now,
            expires_at=now + EXPIRY_MILLISECONDS,
            code=code,
        )

    def notice(self, event: RecordedEvent, run_id: str, code: str, sentence: str) -> Outgoing:
        message = {"role": "assistant", "content": sentence, "metadata": {"notice": code}}
        return self.compose(event, run_id, "notice", message, code)

    def committed(self, rows: list[Outgoing]) -> None:
        """The rows are durable: show or send them."""
        for row in rows:
            if row.state == "sent":
                self.feed.shown(row)
            else:
                self._outbox.offer(row)

    def abandoned(self, rows: list[Outgoing]) -> None:
        """The rows were not committed."""
        for row in rows:
            if row.state == "sending":
                self._outbox.release(row.target)

    async def deliver(self, journal: Journal, unit: Unit, rows: list[Outgoing]) -> None:
        """Commits a unit that holds these rows, then shows or sends them."""
        try:
            await journal.commit(unit)
        except (GuardFailed, StorageFailed):
            self.abandoned(rows)
            raise
        self.committed(rows)
