"""Sends queued webhook calls and retries them with growing pauses. Continues after a restart.

The number of attempts is stored before each one, so that a call which crashes the Host is not retried endlessly.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from parlour.core.journal import Journal, Statement, Unit, UnitBuilder, retry_on_storage_failure
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ports import Clock
from parlour.core.platforms.names import NameDirectory
from parlour.core.store import event_notes, webhook_deliveries
from parlour.core.store.event_log import EventLog
from parlour.core.store.webhook_deliveries import WebhookDelivery, WebhookDeliveryStore

from .client import AttemptResult, WebhookClient
from .response_actions import WebhookResponses

logger = logging.getLogger(__name__)

CONCURRENCY_PER_BOT = 16
"""Concurrent calls per bot, so that an address that does not respond blocks no other bot."""
EXTRA_INTERRUPTED_ATTEMPTS = 2
"""Extra attempts beyond the route's limit for calls that were interrupted by a stop of the Host."""
MAX_RETRY_SECONDS = 3600.0
"""Maximum seconds between two attempts."""


class OutboundWebhooks:
    """Runs one task per queued webhook call."""

    def __init__(
        self, journal: Journal, sending: WebhookClient, answers: WebhookResponses, names: NameDirectory, clock: Clock
    ) -> None:
        self._journal = journal
        self._names = names
        self._calls = WebhookDeliveryStore(journal)
        self._log = EventLog(journal)
        self._sending = sending
        self._answers = answers
        self._clock = clock
        self._slots: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(CONCURRENCY_PER_BOT))
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._closed = False

    def __len__(self) -> int:
        """The number of calls in progress."""
        return len(self._tasks)

    async def recover(self) -> None:
        for call in await self._calls.all():
            self.enqueue(call)

    def enqueue(self, call: WebhookDelivery) -> None:
        """Starts a call that is already stored."""
        if not self._closed and call.call_id not in self._tasks:
            self._tasks[call.call_id] = asyncio.create_task(self._work(call))

    async def close(self) -> None:
        self._closed = True
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _work(self, call: WebhookDelivery) -> None:
        try:
            left: WebhookDelivery | None = call
            while left is not None:
                await asyncio.sleep(max(0.0, (left.not_before - self._clock.now()) / 1000))
                attempt = partial(self._attempt_in_slot, left)
                left = await retry_on_storage_failure(attempt, f"webhook {call.call_id}")
        except Exception:
            logger.exception("webhook %s is left for the next start", call.call_id)
        finally:
            del self._tasks[call.call_id]

    async def _attempt_in_slot(self, call: WebhookDelivery) -> WebhookDelivery | None:
        async with self._slots[call.bot["id"]]:
            return await self._attempt(call)

    async def _attempt(self, call: WebhookDelivery) -> WebhookDelivery | None:
        """Makes one attempt. Returns the call to retry; None if it is finished."""
        event = await self._log.get_by_seq(call.event_seq)
        if event is None or event.is_erased:
            await self._journal.commit(Unit("webhook.end", (webhook_deliveries.complete(call),)))
            return None
        if call.attempts > call.config["retry_count"] + EXTRA_INTERRUPTED_ATTEMPTS:
            await self._finish(call, event, AttemptResult("refused", "the Host stopped in the middle of the last ones"))
            return None
        call = call.with_attempt()
        await self._journal.commit(Unit("webhook.try", (webhook_deliveries.update(call),)))
        event = await self._names.with_names(event)
        tried = await self._sending.send(call, event, self._clock.now())
        if tried.outcome == "again" and call.attempts <= call.config["retry_count"]:
            wait = _retry_delay(call, tried)
            call = replace(call, not_before=self._clock.now() + round(wait * 1000))
            told = f"The webhook has not taken it yet: {tried.description}; it is tried again after {wait:g} s."
            await self._journal.commit(
                Unit("webhook.wait", (webhook_deliveries.update(call), self._trail_note(call, told)))
            )
            return call
        await self._finish(call, event, tried)
        return None

    async def _finish(self, call: WebhookDelivery, event: RecordedEvent, tried: AttemptResult) -> None:
        draft = UnitBuilder("webhook.end")
        draft.add(webhook_deliveries.complete(call))
        asked = self._answers.read(call, event, tried.body) if tried.outcome == "taken" else None
        text, rows = f"{_summary(call, tried)}{asked.trail_text if asked else ''}", asked.rows if asked else []
        draft.add(self._trail_note(call, text, [row.outbox_id for row in rows]))
        await self._answers.commit(draft, asked)

    def _trail_note(self, call: WebhookDelivery, text: str, outbox_ids: Sequence[str] = ()) -> Statement:
        """Returns the note for the event's trail, which replaces the earlier one; it names the rows that the response
        requested.
        """
        data = {"text": text, "tries": call.attempts, event_notes.OUTBOX_IDS: list(outbox_ids)}
        return event_notes.add_note(call.event_seq, "webhook", data, self._clock.now())


def _retry_delay(call: WebhookDelivery, tried: AttemptResult) -> float:
    """Returns the seconds before the next attempt: doubled each time, or as the server asks."""
    if tried.retry_after is not None:
        return min(tried.retry_after, MAX_RETRY_SECONDS)
    return float(min(call.config["retry_interval"] * 2 ** (call.attempts - 1), MAX_RETRY_SECONDS))


def _summary(call: WebhookDelivery, tried: AttemptResult) -> str:
    times = f" after {call.attempts} tries" if call.attempts > 1 else ""
    if tried.outcome == "taken":
        return f"The webhook took it{times}."
    return f"The webhook did not take it{times}: {tried.description}."
