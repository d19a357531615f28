"""The handler `agent`: checks whether the event may have a run, applies its message policy, and executes the run."""

from typing import TYPE_CHECKING, ClassVar

from parlour.core.config.routes import Route
from parlour.core.errors import CallRejected
from parlour.core.message_policy.wake import MESSAGE_TYPE
from parlour.core.model.agent import Binding
from parlour.core.model.event import EventEnvelope
from parlour.core.model.ids import AgentId, LimitPolicyId
from parlour.core.model.ports import Clock
from parlour.core.platforms.names import NameDirectory
from parlour.core.routing.agent_binder import AgentBinder, BindingOverride
from parlour.core.routing.decisions import RouteDecision, ToAgent
from parlour.core.runs.admission import AdmissionLost
from parlour.core.runs.event_completion import EventCompleter
from parlour.core.runs.executor import RunExecutor
from parlour.core.runs.lane_result import LaneResult, RunnerSuspension
from parlour.core.runs.policy_turns import PolicyTurn, PolicyTurns
from parlour.core.runs.run_checks import RunChecks
from parlour.core.runs.session import QueuedEvent
from parlour.core.secrets import SecretUnreadable

if TYPE_CHECKING:
    from parlour.core.message_policy.schema import MessagePolicy

MAX_ADMISSIONS = 20
"""Attempts to open a run while other messages use up its limits at the same moment."""


class AgentHandler:
    """Answers events by runs of an agent."""

    type: ClassVar[str] = ToAgent.handler_type
    answers_by_agent: ClassVar[bool] = True

    def __init__(
        self,
        binder: AgentBinder,
        checks: RunChecks,
        policies: PolicyTurns,
        names: NameDirectory,
        executor: RunExecutor,
        completer: EventCompleter,
        clock: Clock,
    ) -> None:
        self._binder = binder
        self._checks = checks
        self._policies = policies
        self._names = names
        self._executor = executor
        self._completer = completer
        self._clock = clock

    def resolve(self, event: EventEnvelope, route: Route, skipped_routes: str) -> RouteDecision:
        agent_id = AgentId(str(route.handler_config.get("agent_id", "")))
        fields = route.handler_config.get("message_policy")
        override = BindingOverride(fields, LimitPolicyId(f"route:{route.route_id}")) if fields else None
        return self._binder.bind(event, agent_id, f"{route.label}{skipped_routes}", "bot", override)

    async def handle(self, entry: QueuedEvent, decision: ToAgent) -> LaneResult:
        binding = decision.binding
        agent = binding.agent
        if self._checks.is_starting(agent):
            return LaneResult(suspension=RunnerSuspension(entry, agent.runner_id, self._checks))
        if entry.run_id:  # a created run was checked at its creation
            return await self._execute(entry, binding)
        obstacle = self._checks.find_obstacle(entry, agent, self._clock.now())
        if obstacle is not None:
            await self._completer.complete(entry, obstacle.outcome, obstacle.reason, obstacle.notice)
            return LaneResult()
        if (turn := self._policies.consult(entry, binding)) is not None:
            return await self._end_turn(entry, turn)
        policy = self._policies.policy(binding) if agent.message_policy else None
        if policy is not None and entry.event.envelope.event_type == MESSAGE_TYPE:
            return await self._handle_with_policy(entry, binding, policy)
        if not entry.attempts:
            self._checks.count(entry.event)
        return await self._execute(entry, binding)

    async def _handle_with_policy(self, entry: QueuedEvent, binding: Binding, policy: "MessagePolicy") -> LaneResult:
        entry.event = await self._names.with_names(entry.event)
        is_counted = bool(entry.attempts)
        for _ in range(MAX_ADMISSIONS):
            turn = await self._policies.admit(entry, binding, policy)
            if turn.suspension is not None or turn.obstacle is not None:
                return await self._end_turn(entry, turn)
            if not is_counted:
                self._checks.count(entry.event)
                is_counted = True
            try:
                result = await self._execute(entry, binding)
            except AdmissionLost:
                self._policies.put_back(entry)
                continue
            return result
        raise AdmissionLost

    async def _end_turn(self, entry: QueuedEvent, turn: PolicyTurn) -> LaneResult:
        """Suspends a message, or completes it without a run."""
        if (obstacle := turn.obstacle) is not None:
            if entry.hooked is not None and entry.hooked.has_replies:
                self._checks.count(entry.event)  # two bots must not keep answering each other through a plugin either
            await self._completer.complete(
                entry, obstacle.outcome, obstacle.reason, obstacle.notice, obstacle.text, filtered=obstacle.filtered
            )
        return LaneResult(suspension=turn.suspension)

    async def _execute(self, entry: QueuedEvent, binding: Binding) -> LaneResult:
        entry.event = await self._names.with_names(entry.event)
        try:
            target = self._checks.resolve(binding)
        except CallRejected as rejection:
            await self._completer.reject(entry, rejection.message)
        except SecretUnreadable as failure:
            reason = f"the configuration of agent '{binding.agent.name}' can't be used: {failure}"
            await self._completer.reject(entry, reason)
        else:
            return await self._executor.execute(entry, target)
        return LaneResult()
