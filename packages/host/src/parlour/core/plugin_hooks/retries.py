"""Delivers queued events to plugins, per plugin in order of the events, and retries until it works.

Observers of events that others handle receive them here; so do listeners whose plugin was unavailable. Each delivery is
a job. The handlers that are finished with an event are stored, so that only the handler that crashes its plugin is
given up.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from parlour.core.backoff import exponential_delay
from parlour.core.cluster.parts import bot_part
from parlour.core.jobs.job import Job, JobDone, JobFailed, JobHandler, JobResult, JobRetry
from parlour.core.jobs.jobs import Jobs
from parlour.core.jobs.progress import JobProgress
from parlour.core.journal import Delete, Insert, Journal, Ref, Statement
from parlour.core.model.ids import BotId, PluginId
from parlour.core.model.ports import Clock, PluginDisconnected
from parlour.core.store import event_notes
from parlour.core.store.event_log import EventLog
from parlour_sdk.values import dataclass

from .dispatcher import DispatchResult, FailedListener, ListenerDispatcher

MAX_CRASHES = 3
"""Crashes of a plugin during one event, after which the event is not delivered to that handler again."""
MAX_AGE_MILLISECONDS = 3600 * 1000
"""Milliseconds after which a queued event is given up."""
MAX_RETRY_SECONDS = 30.0
"""Maximum seconds between two attempts."""
IN_ORDER_DELAY_MILLISECONDS = 60_000
"""Delay before an observer of an event that listeners handle is called separately."""
UNLIMITED = 1_000_000
"""Number of plugins that may be called at the same time; each has one delivery at a time."""


@dataclass(frozen=True, slots=True)
class ListenerDelivery:
    """A pending delivery of one event to the listeners of one plugin."""

    observing: bool
    """True if the event has another handler and the plugin only observes it."""
    finished_handlers: tuple[str, ...] = ()
    """Names of the plugin's handlers that no longer need the event: delivered, given up, or stopped by another one."""
    tries: int = 0
    """Failed attempts to call the first handler that still needs the event."""

    def to_payload(self) -> dict[str, Any]:
        return {"observing": self.observing, "finished": list(self.finished_handlers), "tries": self.tries}

    @classmethod
    def from_payload(cls, payload: dict[str, Any]) -> "ListenerDelivery":
        return cls(payload["observing"], tuple(payload["finished"]), payload["tries"])


class ListenerRetries(JobHandler):
    """Queues deliveries to listeners, and makes them. The key of the jobs is the plugin."""

    kind: ClassVar[str] = "listener"
    counts_before_attempt: ClassVar[bool] = False
    keeps_done: ClassVar[bool] = False
    concurrency: ClassVar[int] = UNLIMITED
    max_retry_seconds: ClassVar[float] = MAX_RETRY_SECONDS

    def __init__(self, journal: Journal, jobs: Jobs, dispatcher: ListenerDispatcher, clock: Clock) -> None:
        self._log = EventLog(journal)
        self._jobs = jobs
        self._dispatcher = dispatcher
        self._clock = clock

    def enqueue(
        self, event_seq: int | Ref, bot_id: BotId, plugin_id: PluginId, delivery: ListenerDelivery, not_before: int = 0
    ) -> Insert:
        """Returns the statement that queues an event of a bot for a plugin."""
        return self._jobs.enqueue(
            self.kind,
            plugin_id,
            delivery.to_payload(),
            event_seq=event_seq,
            part=bot_part(bot_id) if bot_id else "",
            attempts=delivery.tries,
            not_before=not_before,
        )

    def enqueue_in_order(self, event_seq: Ref, bot_id: BotId, plugin_id: PluginId, now: int) -> Insert:
        """Returns the statement that queues an event for an observer, if listeners handle the event.

        The observer normally receives the event together with them; the job is a fallback if that does not happen.
        """
        return self.enqueue(event_seq, bot_id, plugin_id, ListenerDelivery(True), now + IN_ORDER_DELAY_MILLISECONDS)

    def withdraw(self, event_seq: int, plugin_id: PluginId) -> Delete:
        """Returns the statement that deletes a delivery that is done or is replaced."""
        return self._jobs.withdraw(self.kind, plugin_id, event_seq)

    def wake(self, *plugin_ids: PluginId) -> None:
        """Starts delivering the queued events of these plugins."""
        self._jobs.wake(self.kind, *plugin_ids)

    async def run(self, job: Job, progress: JobProgress) -> JobResult:
        event = await self._log.get_by_seq(job.event_seq)
        if event is None or event.is_erased:
            return JobDone()
        plugin_id, delivery = PluginId(job.order_key), ListenerDelivery.from_payload(job.payload)
        result = await self._dispatcher.redeliver(event, plugin_id, delivery.observing, delivery.finished_handlers)
        failed_listener = result.failed_listeners.get(plugin_id)
        if failed_listener is None:
            return JobDone(self._trail_notes(job, "", result.failures))
        if self._clock.now() - job.created_at > MAX_AGE_MILLISECONDS:
            notes = self._trail_notes(job, "", [*result.failures, _final_failure(plugin_id, failed_listener)])
            return JobFailed(str(failed_listener.failure), notes)
        return self._retry(job, delivery, result, failed_listener)

    def on_failed(self, job: Job, reason: str) -> Sequence[Statement]:
        return self._trail_notes(job, "", [f"{job.order_key} listens to such events, and {reason}"])

    def _retry(
        self, job: Job, delivery: ListenerDelivery, result: DispatchResult, failed_listener: FailedListener
    ) -> JobRetry:
        """Postpones the delivery for the failed handler and those after it. Attempts are counted per handler."""
        plugin_id, failures = PluginId(job.order_key), result.failures
        newly_finished = tuple(result.finished_handlers.get(plugin_id, ()))
        finished_handlers = delivery.finished_handlers + newly_finished
        tries = 1 if newly_finished else delivery.tries + 1
        delay = exponential_delay(tries, 1.0, MAX_RETRY_SECONDS)
        if isinstance(failed_listener.failure, PluginDisconnected) and tries >= MAX_CRASHES:
            failures = [*failures, _final_failure(plugin_id, failed_listener)]
            finished_handlers, tries, delay = (*finished_handlers, failed_listener.handler), 0, 0
        postponed = ListenerDelivery(delivery.observing, finished_handlers, tries)
        notes = self._trail_notes(job, failed_listener.handler, failures)
        return JobRetry(str(failed_listener.failure), delay, notes, postponed.to_payload())

    def _trail_notes(self, job: Job, handler: str, failures: Sequence[str]) -> list[Statement]:
        """Returns the trail notes about failures; a handler that was given up gets a note of its own."""
        if not failures:
            return []
        step = " ".join(filter(None, ("listener", job.order_key, handler)))
        text = f"Of those who listen, {'; '.join(failures)}."
        return [event_notes.add_note(job.event_seq, step, {"text": text}, self._clock.now())]


def _final_failure(plugin_id: PluginId, failed_listener: FailedListener) -> str:
    return f"{plugin_id} listens to such events, and {failed_listener.failure}"
