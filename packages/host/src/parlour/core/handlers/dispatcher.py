"""Decides what happens to a queued event at its turn: wait, expire, quarantine, drop, reject, pass to another handler,
or run.
"""

import logging

from parlour.core.errors import CallRejected
from parlour.core.model.agent import Binding
from parlour.core.model.ports import Clock
from parlour.core.platforms.names import NameDirectory
from parlour.core.routing.router import Drop, Misconfigured, Router, ToAgent, ToListeners, ToWebhook
from parlour.core.runs import retry_policy
from parlour.core.runs.event_completion import EventCompleter
from parlour.core.runs.executor import RunExecutor
from parlour.core.runs.lane_result import LaneResult, RunnerSuspension
from parlour.core.runs.run_checks import QUARANTINE_REASONS, RunChecks
from parlour.core.runs.runner_registry import RunnerRegistry
from parlour.core.runs.session import QueuedEvent
from parlour.core.secrets import SecretUnreadable

from .non_agent_handlers import NonAgentHandlers

logger = logging.getLogger(__name__)


class EventDispatcher:
    """Passes each queued event to the handler that the router chooses."""

    def __init__(
        self,
        router: Router,
        registry: RunnerRegistry,
        orchestrator: RunExecutor,
        handing: NonAgentHandlers,
        checks: RunChecks,
        completer: EventCompleter,
        names: NameDirectory,
        clock: Clock,
    ) -> None:
        self._names = names
        self._router = router
        self._registry = registry
        self._orchestrator = orchestrator
        self._handing = handing
        self._checks = checks
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
                return await self._answer(entry, binding)
        return LaneResult()

    async def _answer(self, entry: QueuedEvent, binding: Binding) -> LaneResult:
        if self._registry.is_starting(binding.agent.runner_id):
            return LaneResult(suspension=RunnerSuspension(entry, binding.agent.runner_id, self._registry))
        if not entry.run_id:  # a created run was checked at its creation
            obstacle = self._checks.find_obstacle(entry, binding.agent, self._clock.now())
            if obstacle is not None:
                await self._completer.complete(entry, obstacle.outcome, obstacle.reason, obstacle.notice)
                return LaneResult()
            if not entry.attempts:
                self._checks.count(entry.event)
        entry.event = await self._names.with_names(entry.event)
        try:
            target = self._checks.resolve(binding)
        except CallRejected as rejection:
            await self._completer.reject(entry, rejection.message)
        except SecretUnreadable as failure:
            await self._completer.reject(
                entry, f"the configuration of agent '{binding.agent.name}' can't be used: {failure}"
            )
        else:
            return await self._orchestrator.execute(entry, target)
        return LaneResult()

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
