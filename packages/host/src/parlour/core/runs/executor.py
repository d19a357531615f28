"""The single entry of every run: starts it, calls its plugin, applies its results, and ends it in every case.

A run for remote workers is passed to the remote queue, which keeps its lane suspended until the run is over.
"""

import logging
from collections.abc import Awaitable

from parlour.core.delivery.composer import Delivery
from parlour.core.journal import Draft, Journal
from parlour.core.log_context import about_run
from parlour.core.model.agent import Binding
from parlour.core.model.ports import Clock, PluginCaller
from parlour.core.model.resource_policy import Selection
from parlour.core.model.runner import Descriptor
from parlour.core.runs.runner_registry import Registry, absence
from parlour.core.secrets import SecretUnreadable

from . import queue_result
from .active_run import LiveRun
from .attachment_prefetch import Bringing
from .completion import Endings
from .outcomes import Outcomes
from .plugin_call import invoke
from .queue_result import Turn
from .remote_queue import RemoteQueue
from .session import Entry, Opened, RunSession, Sessions
from .starter import Openings

logger = logging.getLogger(__name__)


class Orchestrator:
    """Executes the runs of queued events."""

    def __init__(
        self,
        journal: Journal,
        plugins: PluginCaller,
        registry: Registry,
        openings: Openings,
        live: LiveRun,
        claims: RemoteQueue,
        sessions: Sessions,
        delivery: Delivery,
        endings: Endings,
        outcomes: Outcomes,
        bringing: Bringing,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._plugins = plugins
        self._registry = registry
        self._openings = openings
        self._live = live
        self._claims = claims
        self._sessions = sessions
        self._delivery = delivery
        self._endings = endings
        self._outcomes = outcomes
        self._bringing = bringing
        self._clock = clock

    async def run(self, entry: Entry, binding: Binding) -> Turn:
        """Executes a run for the event, or rejects the event if its agent has no usable runner."""
        descriptor = self._registry.get(binding.agent.runner_id)
        if descriptor is None:
            await self._refuse(entry, absence(binding.agent.runner_id))
            return Turn()
        if descriptor.plugin_id not in Selection.of(binding.agent.resource_policy.plugins):
            await self._refuse(entry, f"plugin {descriptor.plugin_id} is not among the plugins this agent may use")
            return Turn()
        try:
            session = await self._openings.session(entry, binding, descriptor)
        except SecretUnreadable as failure:
            await self._refuse(entry, f"the configuration of agent '{binding.agent.name}' can't be used: {failure}")
            return Turn()
        commission = entry.event.envelope.commission
        if commission is not None and commission.queue:
            return await self._claims.park(session, descriptor, commission.labels)
        self._sessions.announce(session)
        with about_run(session.run_id):
            return await self._carry_out(entry, session, descriptor, self._openings.begin(session, descriptor))

    async def carry_on(self, entry: Entry, opened: Opened) -> Turn:
        """Executes a run that was started in the unit that accepted its event."""
        entry.opened = None
        session, descriptor = opened.session, opened.descriptor
        with about_run(session.run_id):
            return await self._carry_out(entry, session, descriptor, self._openings.prepared(opened))

    async def _carry_out(
        self, entry: Entry, session: RunSession, descriptor: Descriptor, begun: Awaitable[dict[str, object]]
    ) -> Turn:
        try:
            request = await begun
            self._sessions.register(session)
            self._delivery.run_started(entry.event, session.run_id)
            await self._bringing.bring(session)
            live = self._live(session)
            aftermath = await invoke(self._plugins, descriptor.plugin_id, request, session, live, self._clock)
        finally:
            self._sessions.unregister(session)
        self._outcomes.settled(aftermath.settled)
        return queue_result.after(entry, session.run_id, aftermath)

    async def _refuse(self, entry: Entry, reason: str) -> None:
        """Completes an event that can't have a run, and notifies its sender."""
        logger.warning("event %s can't be answered: %s", entry.event.envelope.event_id, reason)
        draft = Draft("event.settle")
        self._endings.call_off(draft, entry, "runner.unavailable", reason)
        settled = self._endings.settle(draft, entry.event, "failed", reason)
        rows = self._endings.refuse(draft, entry, "runner.unavailable")
        await self._delivery.deliver(self._journal, draft.unit(), rows)
        self._outcomes.settled([settled])
