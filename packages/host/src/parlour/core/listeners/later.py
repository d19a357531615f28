"""Tells plugins of events that they have yet to hear, each plugin in the order of the events, until it worked.

Observers of what others handle hear of it here; so do listeners whose plugin was away when it was their turn.
"""

import asyncio
import logging

from parlour.core.facts import listening, trail
from parlour.core.facts.event_log import EventLog
from parlour.core.facts.listening import Unheard, UnheardEvents
from parlour.core.journal import Journal, Statement, StorageFailed, Unit
from parlour.core.ports import Clock, PluginLost

from .listening import Listening

logger = logging.getLogger(__name__)

CRASHES = 3
"""An event over which a plugin dies so often is not told to it again."""
PATIENCE_MILLISECONDS = 3600 * 1000
LONGEST_WAIT_SECONDS = 30.0
STORAGE_RETRY_SECONDS = 1.0


class LaterListening:
    def __init__(self, journal: Journal, listening: Listening, clock: Clock) -> None:
        self._journal = journal
        self._log = EventLog(journal)
        self._unheard = UnheardEvents(journal)
        self._listening = listening
        self._clock = clock
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._closed = False

    async def take_up(self) -> None:
        self.offer(*await self._unheard.plugins())

    def offer(self, *plugin_ids: str) -> None:
        """There is something for them."""
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
            logger.exception("what listeners of %s have yet to hear is left for the next start", plugin_id)
        finally:
            del self._tasks[plugin_id]

    async def _drain(self, plugin_id: str) -> None:
        while True:
            try:
                unheard = await self._unheard.next(plugin_id, self._clock.now())
                if unheard is None:
                    return
                wait = (unheard.not_before - self._clock.now()) / 1000
                if wait > 0:
                    await asyncio.sleep(wait)
                await self._try(unheard)
            except StorageFailed as failure:
                logger.error("listeners of %s wait for the database: %s", plugin_id, failure.message)
                await asyncio.sleep(STORAGE_RETRY_SECONDS)

    async def _try(self, unheard: Unheard) -> None:
        event = await self._log.by_seq(unheard.event_seq)
        if event is None or event.erased:
            await self._end(unheard, "")
            return
        heard = await self._listening.again(event, unheard.plugin_id, unheard.observing)
        failure = heard.missed.get(unheard.plugin_id)
        if failure is None:
            failed = "; ".join(heard.failures)
            await self._end(unheard, f"Of those who listen, {failed}." if failed else "")
            return
        died = isinstance(failure, PluginLost) and unheard.attempts + 1 >= CRASHES
        if died or self._too_late(unheard):
            await self._end(unheard, f"Plugin {unheard.plugin_id} listens to such events, and {failure}.")
        else:
            until = self._clock.now() + round(_wait(unheard.attempts) * 1000)
            await self._commit(listening.postpone(unheard, until))

    def _too_late(self, unheard: Unheard) -> bool:
        return self._clock.now() - unheard.created_at > PATIENCE_MILLISECONDS

    async def _end(self, unheard: Unheard, text: str) -> None:
        """Nothing more is owed to the plugin; what went wrong is on the event's trail."""
        statements: list[Statement] = [listening.heard(unheard.event_seq, unheard.plugin_id)]
        if text:
            step = f"listener {unheard.plugin_id}"
            statements.append(trail.note(unheard.event_seq, step, {"text": text}, self._clock.now()))
        await self._commit(*statements)

    async def _commit(self, *statements: Statement) -> None:
        await self._journal.commit(Unit("listening.later", statements))


def _wait(attempts: int) -> float:
    return float(min(2**attempts, LONGEST_WAIT_SECONDS))
