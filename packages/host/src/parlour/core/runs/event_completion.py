"""Ends events: commits the outcome of an event, shows the notice to its sender, and publishes the result."""

import logging
from collections.abc import Sequence

from parlour.core.delivery.publisher import DeliveryPublisher
from parlour.core.journal import Journal, UnitBuilder
from parlour.core.message_policy.filtered import FilteredMessage, FilteredMessages
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ids import NO_RUN, RunId
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import Clock
from parlour.core.store import ledger
from parlour.core.store.inbox import InboxOutcome
from parlour.core.store.ledger import RunEnd

from .completion import RunCompleter
from .heard_messages import HeardMessages
from .outcomes import Outcomes
from .session import QueuedEvent, RunTermination

logger = logging.getLogger(__name__)


class EventCompleter:
    """Ends events that get no run, or no further one, each with one unit."""

    def __init__(
        self,
        journal: Journal,
        completer: RunCompleter,
        publisher: DeliveryPublisher,
        outcomes: Outcomes,
        filtered: FilteredMessages,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._completer = completer
        self._publisher = publisher
        self._outcomes = outcomes
        self._filtered = filtered
        self._clock = clock

    async def complete(
        self,
        entry: QueuedEvent,
        outcome: str,
        reason: str,
        notice: str = "",
        notice_text: str = "",
        heard: HeardMessages | None = None,
        filtered: FilteredMessage | None = None,
    ) -> None:
        """Completes an event without a run. The sender of an expired event gets a notice only on the Host's own
        surfaces, not on a platform. `notice_text` is the text of a notice without one of the Host's own. With `heard`,
        a message of a group is kept as one that the bot heard. Listeners are told what is `filtered`.
        """
        unit = UnitBuilder("event.settle")
        if heard is not None:
            heard.add(unit, entry)
        self._completer.cancel_queued(unit, entry, outcome, reason)
        inbox_outcome = self.add_outcome(unit, entry.event, outcome, reason, entry.run_id or entry.parent_run_id)
        rows: list[OutboxRow] = []
        if notice and (notice != "expired" or entry.event.envelope.principal):
            rows += self._completer.reject(unit, entry, notice, notice_text)
        if filtered is not None:
            self._filtered.add(unit, entry.event, filtered)
        await self.commit(unit, inbox_outcome, rows)
        if filtered is not None:
            self._filtered.after_commit()

    async def reject(self, entry: QueuedEvent, reason: str) -> None:
        """Completes an event whose agent has no usable runner, and notifies its sender."""
        logger.warning("event %s can't be answered: %s", entry.event.envelope.event_id, reason)
        unit = UnitBuilder("event.settle")
        self._completer.cancel_queued(unit, entry, "runner.unavailable", reason)
        inbox_outcome = self.add_outcome(unit, entry.event, "failed", reason)
        await self.commit(unit, inbox_outcome, self._completer.reject(unit, entry, "runner.unavailable"))

    async def cancel(self, run_id: RunId, entry: QueuedEvent, termination: RunTermination) -> None:
        """Ends a run that waits for its turn, and its event."""
        unit, now = UnitBuilder("run.call_off"), self._clock.now()
        end = RunEnd(termination.status, termination.code, termination.error, cancel_requested_at=now)
        unit.add(ledger.end_run(run_id, end, now))
        await self.commit(unit, self.add_outcome(unit, entry.event, "cancelled", termination.code, run_id))

    def add_outcome(
        self, unit: UnitBuilder, event: RecordedEvent, outcome: str, reason: str, run_id: RunId = NO_RUN
    ) -> InboxOutcome:
        """Adds the outcome of an event to a unit that `commit` writes."""
        return self._completer.complete_event(unit, event, outcome, reason, run_id)

    async def commit(self, unit: UnitBuilder, inbox_outcome: InboxOutcome, rows: Sequence[OutboxRow] = ()) -> None:
        """Commits the unit, sends its notices, and publishes the outcome."""
        await self._publisher.deliver(self._journal, unit.build(), list(rows))
        self._outcomes.publish([inbox_outcome])
