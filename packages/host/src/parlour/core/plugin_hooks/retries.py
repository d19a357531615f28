"""Delivers queued events to plugins, per plugin in order of the events, and retries until it works.

Observers of events that others handle receive them here; so do listeners whose plugin was unavailable. The handlers
that are finished with an event are stored, so that only the handler that crashes its plugin is given up.
"""

import asyncio
import logging
from collections.abc import Sequence
from functools import partial

from parlour.core.journal import Journal, Statement, Unit, retry_on_storage_failure
from parlour.core.model.ports import Clock, PluginDisconnected
from parlour.core.store import event_notes
from parlour.core.store import listener_deliveries as listening
from parlour.core.store.event_log import EventLog
from parlour.core.store.listener_deliveries import ListenerDelivery, ListenerDeliveryStore

from .dispatcher import DispatchResult, FailedListener, ListenerDispatcher

logger = logging.getLogger(__name__)

MAX_CRASHES = 3
"""Crashes of a plugin during one event, after which the event is not delivered to that handler again."""
MAX_AGE_MILLISECONDS = 3600 * 1000
"""Milliseconds after which a queued event is given up."""
MAX_RETRY_SECONDS = 30.0
"""Maximum seconds between two attempts."""


class ListenerRetries:
    """Runs one task per plugin with queued events."""

    def __init__(self, journal: Journal, listening: ListenerDispatcher, clock: Clock) -> None:
        self._journal = journal
        self._log = EventLog(journal)
        self._unheard = ListenerDeliveryStore(journal)
        self._listening = listening
        self._clock = clock
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._closed = False

    async def recover(self) -> None:
        self.enqueue(*await self._unheard.pending_plugins())

    def enqueue(self, *plugin_ids: str) -> None:
        """Starts delivering the queued events of these plugins."""
        for plugin_id in plugin_ids:
            self._again.add(plugin_id)
            if plugin_id not in self._tasks and not self._closed:
                self._tasks[plugin_id] = asyncio.create_task(self._work(plugin_id))

    async def close(self) -> None:
        self._closed = True
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _work(self, plugin_id: str) -> None:
        try:
            while plugin_id in self._again:
                self._again.discard(plugin_id)
                await self._drain(plugin_id)
        except Exception:
            logger.exception("queued events for listeners of %s are left for the next start", plugin_id)
        finally:
            del self._tasks[plugin_id]

    async def _drain(self, plugin_id: str) -> None:
        deliver = partial(self._deliver_next, plugin_id)
        while await retry_on_storage_failure(deliver, f"the queue of events for listeners of {plugin_id}"):
            pass

    async def _deliver_next(self, plugin_id: str) -> bool:
        """Makes one attempt when the next one is due. Returns False if no event is queued."""
        unheard = await self._unheard.next(plugin_id, self._clock.now())
        if unheard is None:
            return False
        wait = (unheard.not_before - self._clock.now()) / 1000
        if wait > 0:
            await asyncio.sleep(wait)
        await self._try(unheard)
        return True

    async def _try(self, unheard: ListenerDelivery) -> None:
        event = await self._log.get_by_seq(unheard.event_seq)
        if event is None or event.is_erased:
            await self._end(unheard)
            return
        heard = await self._listening.redeliver(event, unheard.plugin_id, unheard.observing, unheard.finished_handlers)
        missed = heard.failed_listeners.get(unheard.plugin_id)
        if missed is None:
            await self._end(unheard, *self._trail_notes(unheard, "", heard.failures))
        elif self._too_late(unheard):
            gone = f"{unheard.plugin_id} listens to such events, and {missed.failure}"
            await self._end(unheard, *self._trail_notes(unheard, "", [*heard.failures, gone]))
        else:
            await self._postpone(unheard, heard, missed)

    async def _postpone(self, unheard: ListenerDelivery, heard: DispatchResult, missed: FailedListener) -> None:
        """Postpones the delivery for the failed handler and those after it. Attempts are counted per handler."""
        past, failures = (
            [*unheard.finished_handlers, *heard.finished_handlers.get(unheard.plugin_id, ())],
            heard.failures,
        )
        attempts = unheard.attempts + 1 if len(past) == len(unheard.finished_handlers) else 1
        until = self._clock.now() + round(_retry_delay(attempts - 1) * 1000)
        if isinstance(missed.failure, PluginDisconnected) and attempts >= MAX_CRASHES:
            failures = [*failures, f"{unheard.plugin_id} listens to such events, and {missed.failure}"]
            past, attempts, until = [*past, missed.handler], 0, 0
        notes = self._trail_notes(unheard, missed.handler, failures)
        await self._commit(listening.postpone(unheard, past, attempts, until), *notes)

    def _too_late(self, unheard: ListenerDelivery) -> bool:
        return self._clock.now() - unheard.created_at > MAX_AGE_MILLISECONDS

    async def _end(self, unheard: ListenerDelivery, *notes: Statement) -> None:
        """Removes the delivery row of the plugin."""
        await self._commit(listening.complete(unheard.event_seq, unheard.plugin_id), *notes)

    def _trail_notes(self, unheard: ListenerDelivery, handler: str, failures: Sequence[str]) -> list[Statement]:
        """Returns the trail notes about failures; a handler that was given up gets a note of its own."""
        if not failures:
            return []
        step = " ".join(filter(None, ("listener", unheard.plugin_id, handler)))
        text = f"Of those who listen, {'; '.join(failures)}."
        return [event_notes.add_note(unheard.event_seq, step, {"text": text}, self._clock.now())]

    async def _commit(self, *statements: Statement) -> None:
        await self._journal.commit(Unit("listening.later", statements))


def _retry_delay(attempts: int) -> float:
    return float(min(2**attempts, MAX_RETRY_SECONDS))
