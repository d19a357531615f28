"""The single entry of every run: starts it, calls its plugin, applies its results, and ends it in every case.

A run for remote workers is passed to the remote queue, which keeps its lane suspended until the run is over.
"""

from collections.abc import Awaitable

from parlour.core.delivery.composer import DeliveryService
from parlour.core.log_context import run_log_context
from parlour.core.model.agent import Binding
from parlour.core.model.ports import Clock, PluginCaller
from parlour.core.model.resource_policy import Selection
from parlour.core.model.runner import RunnerDescriptor
from parlour.core.runs.runner_registry import RunnerRegistry, missing_runner_message
from parlour.core.secrets import SecretUnreadable

from . import lane_result
from .active_run import ActiveRunFactory
from .attachment_prefetch import AttachmentPrefetcher
from .event_completion import EventCompleter
from .lane_result import LaneResult
from .outcomes import Outcomes
from .plugin_call import run_plugin
from .remote_queue import RemoteQueue
from .session import QueuedEvent, RunSession, RunSessions, StartedRun
from .starter import RunStarter


class RunExecutor:
    """Executes the runs of queued events."""

    def __init__(
        self,
        plugins: PluginCaller,
        registry: RunnerRegistry,
        openings: RunStarter,
        live: ActiveRunFactory,
        claims: RemoteQueue,
        sessions: RunSessions,
        delivery: DeliveryService,
        completer: EventCompleter,
        outcomes: Outcomes,
        bringing: AttachmentPrefetcher,
        clock: Clock,
    ) -> None:
        self._plugins = plugins
        self._registry = registry
        self._openings = openings
        self._live = live
        self._claims = claims
        self._sessions = sessions
        self._delivery = delivery
        self._completer = completer
        self._outcomes = outcomes
        self._bringing = bringing
        self._clock = clock

    async def execute(self, entry: QueuedEvent, binding: Binding) -> LaneResult:
        """Executes a run for the event, or rejects the event if its agent has no usable runner."""
        descriptor = self._registry.get(binding.agent.runner_id)
        if descriptor is None:
            await self._completer.reject(entry, missing_runner_message(binding.agent.runner_id))
            return LaneResult()
        if descriptor.plugin_id not in Selection.parse(binding.agent.resource_policy.plugins):
            await self._completer.reject(
                entry, f"plugin {descriptor.plugin_id} is not among the plugins this agent may use"
            )
            return LaneResult()
        try:
            session = await self._openings.new_session(entry, binding, descriptor)
        except SecretUnreadable as failure:
            await self._completer.reject(
                entry, f"the configuration of agent '{binding.agent.name}' can't be used: {failure}"
            )
            return LaneResult()
        commission = entry.event.envelope.run_request
        if commission is not None and commission.queue:
            return await self._claims.enqueue(session, descriptor, commission.labels)
        self._sessions.register_pending(session)
        with run_log_context(session.run_id):
            return await self._execute(entry, session, descriptor, self._openings.start(session, descriptor))

    async def execute_started(self, entry: QueuedEvent, opened: StartedRun) -> LaneResult:
        """Executes a run that was started in the unit that accepted its event."""
        entry.started_run = None
        session, descriptor = opened.session, opened.descriptor
        with run_log_context(session.run_id):
            return await self._execute(entry, session, descriptor, self._openings.prepared_request(opened))

    async def _execute(
        self, entry: QueuedEvent, session: RunSession, descriptor: RunnerDescriptor, begun: Awaitable[dict[str, object]]
    ) -> LaneResult:
        try:
            request = await begun
            self._sessions.register(session)
            self._delivery.run_started(entry.event, session.run_id)
            await self._bringing.prefetch(session)
            live = self._live(session)
            aftermath = await run_plugin(self._plugins, descriptor.plugin_id, request, session, live, self._clock)
        finally:
            self._sessions.unregister(session)
        self._outcomes.publish(aftermath.outcomes)
        return lane_result.from_completion(entry, session.run_id, aftermath)
