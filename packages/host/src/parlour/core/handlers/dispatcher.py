"""Decides what happens to a queued event at its turn: wait, expire, quarantine, drop, reject, pass to another handler,
or run.
"""

import logging

from parlour.core.delivery import notices
from parlour.core.model.agent import Binding
from parlour.core.model.ports import Clock
from parlour.core.platforms.names import NameDirectory
from parlour.core.routing.router import Drop, Misconfigured, Router, ToAgent, ToListeners, ToWebhook
from parlour.core.runs import retry_policy
from parlour.core.runs.event_completion import EventCompleter
from parlour.core.runs.executor import RunExecutor
from parlour.core.runs.lane_result import LaneResult, RunnerSuspension
from parlour.core.runs.loop_guard import ExceededLimit, LoopGuard
from parlour.core.runs.runner_registry import RunnerRegistry
from parlour.core.runs.session import QueuedEvent

from .non_agent_handlers import NonAgentHandlers

logger = logging.getLogger(__name__)

LIMIT_REASONS = {
    "sender": "its sender has had the runs of this minute (runs.per_sender_per_minute)",
    "bots": "accounts that behave like bots have had their runs of this minute (runs.per_sender_per_minute)",
    "group": "the group has had its runs of this minute (runs.per_conversation_per_minute)",
}
"""Reasons of the outcome `limited`, by the limit that is exceeded."""
QUARANTINE_REASONS = {"agent": "it failed its run too often", "host": "the Host stopped each time that it was tried"}
"""Reasons of the outcome `quarantined`, by the part that failed."""


class EventDispatcher:
    """Passes each queued event to the handler that the router chooses."""

    def __init__(
        self,
        router: Router,
        registry: RunnerRegistry,
        orchestrator: RunExecutor,
        handing: NonAgentHandlers,
        cap: LoopGuard,
        completer: EventCompleter,
        names: NameDirectory,
        clock: Clock,
    ) -> None:
        self._names = names
        self._router = router
        self._registry = registry
        self._orchestrator = orchestrator
        self._handing = handing
        self._cap = cap
        self._completer = completer
        self._clock = clock

    async def handle(self, entry: QueuedEvent) -> LaneResult:
        if entry.started_run is not None:
            return await self._orchestrator.execute_started(entry, entry.started_run)
        match self._router.decide(entry.event.envelope):
            case Drop(reason):
                await self._completer.complete(entry, "dropped", reason)
            case ToWebhook() as hooked:
                await self._handing.queue_webhook_call(entry, hooked)
            case ToListeners() as listened:
                await self._listen(entry, listened)
            case Misconfigured(reason):
                logger.warning("event %s: %s", entry.event.envelope.event_id, reason)
                await self._completer.complete(entry, "misconfigured", reason, "misconfigured")
            case ToAgent(binding):
                if self._registry.is_starting(binding.agent.runner_id):
                    return LaneResult(suspension=RunnerSuspension(entry, binding.agent.runner_id, self._registry))
                if entry.run_id:
                    return await self._run(entry, binding)
                if fault := retry_policy.quarantine_cause(entry.tries):
                    await self._completer.complete(
                        entry, "quarantined", QUARANTINE_REASONS[fault], notices.quarantine_notice(fault)
                    )
                elif entry.event.is_older_than(binding.agent.stale_after, self._clock.now()):
                    await self._completer.complete(
                        entry, "expired", "it is older than the agent's stale_after", "expired"
                    )
                elif limited := self._limited(entry):
                    await self._completer.complete(entry, "limited", LIMIT_REASONS[limited], f"limited.{limited}")
                else:
                    return await self._run(entry, binding)
        return LaneResult()

    async def _run(self, entry: QueuedEvent, binding: Binding) -> LaneResult:
        entry.event = await self._names.with_names(entry.event)
        return await self._orchestrator.execute(entry, binding)

    async def quarantine(self, entry: QueuedEvent) -> None:
        """Quarantines an event whose handling repeatedly failed in the Host itself, with any kind of handler."""
        await self._completer.complete(
            entry, "quarantined", "the Host failed at it too often; the log says where", "quarantined"
        )

    async def _listen(self, entry: QueuedEvent, listened: ToListeners) -> None:
        if not self._handing.has_listeners(entry, listened):
            await self._completer.complete(entry, "dropped", listened.no_listener_reason)
        elif fault := retry_policy.quarantine_cause(entry.tries):
            await self._completer.complete(entry, "quarantined", QUARANTINE_REASONS[fault])
        else:
            await self._handing.call_listeners(entry, listened)

    def _limited(self, entry: QueuedEvent) -> ExceededLimit:
        """Counts a new run and returns the limit that it exceeds, if any. A retry after a failure is not a new run."""
        return "" if entry.attempts else self._cap.try_acquire(entry.event)
