"""The handler `agent`: checks whether the event may have a run, and executes it."""

from typing import ClassVar

from parlour.core.config.routes import Route
from parlour.core.errors import CallRejected
from parlour.core.model.event import EventEnvelope
from parlour.core.model.ids import AgentId
from parlour.core.model.ports import Clock
from parlour.core.platforms.names import NameDirectory
from parlour.core.routing.agent_binder import AgentBinder
from parlour.core.routing.decisions import RouteDecision, ToAgent
from parlour.core.runs.event_completion import EventCompleter
from parlour.core.runs.executor import RunExecutor
from parlour.core.runs.lane_result import LaneResult, RunnerSuspension
from parlour.core.runs.run_checks import RunChecks
from parlour.core.runs.runner_registry import RunnerRegistry
from parlour.core.runs.session import QueuedEvent
from parlour.core.secrets import SecretUnreadable


class AgentHandler:
    """Answers events by runs of an agent."""

    type: ClassVar[str] = ToAgent.handler_type

    def __init__(
        self,
        binder: AgentBinder,
        registry: RunnerRegistry,
        checks: RunChecks,
        names: NameDirectory,
        executor: RunExecutor,
        completer: EventCompleter,
        clock: Clock,
    ) -> None:
        self._binder = binder
        self._registry = registry
        self._checks = checks
        self._names = names
        self._executor = executor
        self._completer = completer
        self._clock = clock

    def resolve(self, event: EventEnvelope, route: Route, skipped_routes: str) -> RouteDecision:
        agent_id = AgentId(str(route.handler_config.get("agent_id", "")))
        return self._binder.bind(event, agent_id, f"{route.label}{skipped_routes}", "bot")

    async def handle(self, entry: QueuedEvent, decision: ToAgent) -> LaneResult:
        agent = decision.binding.agent
        if self._registry.is_starting(agent.runner_id):
            return LaneResult(suspension=RunnerSuspension(entry, agent.runner_id, self._registry))
        if not entry.run_id:  # a created run was checked at its creation
            obstacle = self._checks.find_obstacle(entry, agent, self._clock.now())
            if obstacle is not None:
                await self._completer.complete(entry, obstacle.outcome, obstacle.reason, obstacle.notice)
                return LaneResult()
            if not entry.attempts:
                self._checks.count(entry.event)
        entry.event = await self._names.with_names(entry.event)
        try:
            target = self._checks.resolve(decision.binding)
        except CallRejected as rejection:
            await self._completer.reject(entry, rejection.message)
        except SecretUnreadable as failure:
            await self._completer.reject(entry, f"the configuration of agent '{agent.name}' can't be used: {failure}")
        else:
            return await self._executor.execute(entry, target)
        return LaneResult()
