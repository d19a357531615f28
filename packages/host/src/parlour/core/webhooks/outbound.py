"""Sends queued webhook calls and retries them with growing pauses. Each call is a job.

The number of attempts is stored before each one, so that a call which crashes the Host is not retried endlessly.
"""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from parlour.core.backoff import exponential_delay
from parlour.core.cluster.parts import bot_part
from parlour.core.jobs.job import Job, JobDone, JobFailed, JobHandler, JobResult, JobRetry
from parlour.core.jobs.jobs import Jobs
from parlour.core.jobs.progress import JobProgress
from parlour.core.journal import Insert, Journal, Statement, UnitBuilder
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ids import BotId, JobId, OutboxId
from parlour.core.model.ports import Clock
from parlour.core.platforms.names import NameDirectory
from parlour.core.store import event_notes
from parlour.core.store.event_log import EventLog

from .client import AttemptResult, WebhookClient
from .response_actions import WebhookResponses
from .webhook_delivery import WebhookDelivery

CONCURRENCY_PER_BOT = 16
"""Concurrent calls per bot, so that an address that does not respond blocks no other bot."""
MAX_RETRY_SECONDS = 3600.0
"""Maximum seconds between two attempts."""


class OutboundWebhooks(JobHandler):
    """Queues webhook calls, and makes them. They are not ordered: each has a key of its own."""

    kind: ClassVar[str] = "webhook"
    keeps_done: ClassVar[bool] = False
    concurrency: ClassVar[int] = CONCURRENCY_PER_BOT
    max_retry_seconds: ClassVar[float] = MAX_RETRY_SECONDS

    def __init__(
        self,
        journal: Journal,
        jobs: Jobs,
        client: WebhookClient,
        responses: WebhookResponses,
        names: NameDirectory,
        clock: Clock,
    ) -> None:
        self._log = EventLog(journal)
        self._jobs = jobs
        self._client = client
        self._responses = responses
        self._names = names
        self._clock = clock

    def enqueue(self, call: WebhookDelivery, event_seq: int) -> Insert:
        """Returns the statement that queues a call for an event."""
        return self._jobs.enqueue(
            self.kind,
            call.call_id,
            call.to_payload(),
            job_id=JobId(call.call_id),
            event_seq=event_seq,
            part=bot_part(BotId(call.bot["id"])),
            max_attempts=call.config["retry_count"] + 1,
        )

    def wake(self, call: WebhookDelivery) -> None:
        """Starts a call that is already stored."""
        self._jobs.wake(self.kind, call.call_id)

    def concurrency_group(self, job: Job) -> str:
        return str(job.payload["bot"]["id"])

    async def run(self, job: Job, progress: JobProgress) -> JobResult:
        event = await self._log.get_by_seq(job.event_seq)
        if event is None or event.is_erased:
            return JobDone()
        call = WebhookDelivery.from_job(job)
        event = await self._names.with_names(event)
        result = await self._client.send(call, event, self._clock.now())
        if result.outcome == "again":
            wait = _retry_delay(call, job.attempts, result)
            note = f"The webhook has not taken it yet: {result.description}; it is tried again after {wait:g} s."
            return JobRetry(result.description, wait, (self._trail_note(job, note),))
        if result.outcome == "refused":
            return JobFailed(result.description, self.on_failed(job, result.description))
        return JobDone(commit=partial(self._commit_end, job, call, event, result.body))

    def on_failed(self, job: Job, reason: str) -> Sequence[Statement]:
        return (self._trail_note(job, f"The webhook did not take it{_attempts_text(job)}: {reason}."),)

    async def _commit_end(
        self, job: Job, call: WebhookDelivery, event: RecordedEvent, body: bytes, unit: UnitBuilder
    ) -> None:
        """Commits the end of a call together with the actions that the response requests."""
        requested = self._responses.read(call, event, body)
        summary = f"The webhook took it{_attempts_text(job)}."
        unit.add(self._trail_note(job, summary + requested.trail_text, [row.outbox_id for row in requested.rows]))
        await self._responses.commit(unit, requested)

    def _trail_note(self, job: Job, text: str, outbox_ids: Sequence[OutboxId] = ()) -> Statement:
        """Returns the note for the event's trail, which replaces the earlier one; it names the rows that the response
        requested.
        """
        data = {"text": text, "tries": job.attempts, event_notes.OUTBOX_IDS: list(outbox_ids)}
        return event_notes.add_note(job.event_seq, "webhook", data, self._clock.now())


def _retry_delay(call: WebhookDelivery, attempts: int, result: AttemptResult) -> float:
    """Returns the seconds before the next attempt: doubled each time, or as the server asks."""
    if result.retry_after is not None:
        return min(result.retry_after, MAX_RETRY_SECONDS)
    return exponential_delay(attempts, call.config["retry_interval"], MAX_RETRY_SECONDS)


def _attempts_text(job: Job) -> str:
    return f" after {job.attempts} tries" if job.attempts > 1 else ""
