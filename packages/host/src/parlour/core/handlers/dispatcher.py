"""Passes each queued event at its turn to the handler that the router chooses."""

import logging

from parlour.core.routing.decisions import Misconfigured
from parlour.core.routing.router import Router
from parlour.core.runs.event_completion import EventCompleter
from parlour.core.runs.executor import RunExecutor
from parlour.core.runs.lane_result import LaneResult
from parlour.core.runs.session import QueuedEvent
from parlour.core.runs.transcript_corrections import TranscriptCorrections

from .handler import Handlers

logger = logging.getLogger(__name__)


class EventDispatcher:
    """Passes queued events to handlers; those without one are completed here."""

    def __init__(
        self,
        router: Router,
        handlers: Handlers,
        executor: RunExecutor,
        completer: EventCompleter,
        corrections: TranscriptCorrections,
    ) -> None:
        self._router = router
        self._handlers = handlers
        self._executor = executor
        self._completer = completer
        self._corrections = corrections

    async def handle(self, entry: QueuedEvent) -> LaneResult:
        """Handles the event, or executes the run that was started together with it."""
        await self._corrections.apply(entry.event)
        if entry.started_run is not None:
            return await self._executor.execute_started(entry, entry.started_run)
        decision = self._router.decide(entry.event.envelope)
        if isinstance(decision, Misconfigured):
            logger.warning("event %s: %s", entry.event.envelope.event_id, decision.reason)
            await self._completer.complete(entry, "misconfigured", decision.reason, "misconfigured")
            return LaneResult()
        return await self._handlers[decision.handler_type].handle(entry, decision)

    async def quarantine(self, entry: QueuedEvent) -> None:
        """Quarantines an event whose handling repeatedly failed in the Host itself, with any kind of handler."""
        reason = "the Host failed at it too often; the log says where"
        await self._completer.complete(entry, "quarantined", reason, "quarantined")
