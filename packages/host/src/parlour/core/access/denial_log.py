"""Records refused calls of plugins durably: the first ones of each minute one by one, further ones as a count."""

import asyncio
import logging
from collections import Counter

from parlour.core.errors import CallRejected
from parlour.core.journal import Journal, Statement, StorageFailed, Unit
from parlour.core.model.event import EventContext, EventEnvelope, Participant
from parlour.core.model.ids import NO_CONVERSATION, EventId, PluginId, RunId
from parlour.core.model.ports import Clock, Ids
from parlour.core.store import event_log

from . import audit
from .rate_limit import TokenBucket

logger = logging.getLogger(__name__)

WINDOW_SECONDS = 60.0
"""Seconds over which the refusals of one plugin are counted together."""
MAX_SINGLE_ROWS_PER_WINDOW = 20
"""Number of refusals of one plugin per window that get rows of their own."""
MIN_SINGLE_ROWS_PER_KIND = 5
"""Number of refusals of one action with one code that get rows in any case, so that other refusals do not hide them."""
MAX_WRITTEN_DENIALS_PER_SECOND = 100
"""Refusals written per second and plugin; more are answered `rate_limited` and counted with the next one written."""
LOG_LINES_PER_SECOND = 1
"""Log lines per second about the refusals of one plugin."""
LOG_LINES_BURST = 10
"""Log lines about the refusals of one plugin that may come in a burst."""


class DenialWindow:
    """Counts the refusals of one plugin within a minute."""

    def __init__(self) -> None:
        self.started_at = asyncio.get_running_loop().time()
        self.refused = 0
        self.kinds: Counter[tuple[str, str]] = Counter()
        """Number of refusals by action and code."""
        self.counted: Counter[str] = Counter()
        """Number of refusals without rows of their own, by action."""
        self.counted_at = 0
        """Time at which the row with the count was written; 0 if there is none yet."""

    def add(self, action: str, code: str) -> bool:
        """Counts a refusal. Returns whether it gets a row of its own."""
        self.refused += 1
        self.kinds[action, code] += 1
        if self.refused <= MAX_SINGLE_ROWS_PER_WINDOW or self.kinds[action, code] <= MIN_SINGLE_ROWS_PER_KIND:
            return True
        self.counted[action] += 1
        return False

    def is_expired(self) -> bool:
        return asyncio.get_running_loop().time() - self.started_at >= WINDOW_SECONDS


class DenialLog:
    """Writes refusals to the event log and the audit, limited per plugin."""

    def __init__(self, journal: Journal, clock: Clock, ids: Ids) -> None:
        self._journal = journal
        self._clock = clock
        self._ids = ids
        self._windows: dict[PluginId, DenialWindow] = {}
        self._write_rates: dict[PluginId, TokenBucket] = {}
        self._log_rates: dict[PluginId, TokenBucket] = {}

    async def record(
        self, caller: audit.AuditedCaller, action: str, run_id: RunId, resource: str, scope: str, refusal: CallRejected
    ) -> None:
        """Writes the refusal. Raises CallRejected instead when it can't be written or there are too many of them."""
        plugin_id = caller.plugin_id
        window = self._window(plugin_id)
        is_single = window.add(action, refusal.code)
        if not self._write_rates.setdefault(
            plugin_id, TokenBucket(MAX_WRITTEN_DENIALS_PER_SECOND, MAX_WRITTEN_DENIALS_PER_SECOND)
        ).try_acquire():
            raise CallRejected("rate_limited", "this plugin is refused too often; wait and try again") from refusal
        if self._log_rates.setdefault(plugin_id, TokenBucket(LOG_LINES_PER_SECOND, LOG_LINES_BURST)).try_acquire():
            logger.warning("plugin %s was refused %s in run %s: %s", plugin_id, action, run_id, refusal.message)
        now = self._clock.now()
        statements: tuple[Statement, ...]
        if is_single:
            entry = audit.access_entry(caller, run_id, action, resource, scope, "denied", refusal.code, now)
            statements = (
                event_log.append(self._event(plugin_id, action, run_id, refusal), NO_CONVERSATION, now),
                entry,
            )
        elif window.counted_at:
            statements = (audit.denial_count_update(plugin_id, window.counted, window.counted_at),)
        else:
            window.counted_at = now
            event = self._event(plugin_id, action, run_id, refusal, is_repeated=True)
            statements = (
                event_log.append(event, NO_CONVERSATION, now),
                audit.denial_count_entry(plugin_id, window.counted, now),
            )
        try:
            await self._journal.commit(Unit("access.deny", statements))
        except StorageFailed as failure:
            if not is_single and window.counted_at == now:
                window.counted_at = 0
            raise CallRejected("runtime_error", failure.message) from failure

    def _window(self, plugin_id: PluginId) -> DenialWindow:
        window = self._windows.get(plugin_id)
        if window is None or window.is_expired():
            window = self._windows[plugin_id] = DenialWindow()
        return window

    def _event(
        self, plugin_id: PluginId, action: str, run_id: RunId, refusal: CallRejected, is_repeated: bool = False
    ) -> EventEnvelope:
        identity = EventId(self._ids.new())
        data = {"action": action, "run_id": run_id, "code": refusal.code, "message": refusal.message}
        if is_repeated:
            data["message"] += "; further refusals of this minute are counted in the audit"
        return EventEnvelope(
            event_id=identity,
            event_type="access.denied",
            source="system",
            chat="",
            context=EventContext(identity),
            surface="",
            actor=Participant("plugin", plugin_id),
            data=data,
        )
