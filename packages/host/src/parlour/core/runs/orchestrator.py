"""The single entry for every run: opens it, calls its plugin, applies its results, closes it whatever happens.

A run for remote runtimes is handed to the claims, which hold its lane until it is over.
"""

import asyncio
import logging

from parlour.core.agents.agent import Binding
from parlour.core.agents.policy import Selection
from parlour.core.agents.registry import Descriptor, Registry
from parlour.core.delivery.delivery import Delivery
from parlour.core.journal import Draft, Journal
from parlour.core.ports import PluginCaller, PluginLost, PluginRefused, PluginUnavailable

from . import turns
from .claims import Claims, LiveRun
from .ending import Aftermath, Endings
from .opening import Openings
from .outcomes import Outcomes
from .session import Ending, Entry, RunSession, Sessions, Stopped
from .turns import Turn

logger = logging.getLogger(__name__)


class Orchestrator:
    def __init__(
        self,
        journal: Journal,
        plugins: PluginCaller,
        registry: Registry,
        openings: Openings,
        live: LiveRun,
        claims: Claims,
        sessions: Sessions,
        delivery: Delivery,
        endings: Endings,
        outcomes: Outcomes,
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

    async def run(self, entry: Entry, binding: Binding) -> Turn:
        descriptor = self._registry.get(binding.agent.runner_id)
        if descriptor is None:
            await self._refuse(entry, f"runner '{binding.agent.runner_id}' is not installed or did not start")
            return Turn()
        if descriptor.plugin_id not in Selection.of(binding.agent.resource_policy.plugins):
            await self._refuse(entry, f"plugin {descriptor.plugin_id} is not among the plugins this agent may use")
            return Turn()
        session = await self._openings.session(entry, binding, descriptor)
        commission = entry.event.envelope.commission
        if commission is not None and commission.queue:
            return await self._claims.park(session, descriptor, commission.labels)
        self._sessions.announce(session)
        try:
            request = await self._openings.begin(session, descriptor)
            self._sessions.register(session)
            self._delivery.feed.run_started(entry.event.conversation_id, session.run_id)
            aftermath = await self._serve(session, descriptor, request)
        finally:
            self._sessions.unregister(session)
        self._outcomes.settled(aftermath.settled)
        return turns.after(entry, session.run_id, aftermath)

    async def _serve(self, session: RunSession, descriptor: Descriptor, request: dict[str, object]) -> Aftermath:
        live = self._live(session)
        timer = self._set_deadline(session)
        try:
            session.stream = stream = self._plugins.run_agent(descriptor.plugin_id, request)
            while not session.is_over():
                batch = await stream.batch()
                if session.is_over():
                    break
                aftermath = await live.take(batch) if batch else await live.end(None)
                if aftermath is not None:
                    return aftermath
        except Stopped:
            pass
        except PluginLost as lost:
            return await live.end(Ending("failed", lost.code, f"the plugin was lost during the run: {lost}"))
        except PluginRefused as refusal:
            return await live.end(Ending("failed", "runner.error", str(refusal)))
        except PluginUnavailable as absence:
            return await live.end(Ending("failed", absence.code, str(absence)))
        finally:
            if timer is not None:
                timer.cancel()
            if session.stream is not None:
                session.stream.abort(Stopped())  # whatever the runner still says is of no interest
        return await live.end(session.stopping)

    def _set_deadline(self, session: RunSession) -> asyncio.TimerHandle | None:
        seconds = session.binding.agent.timeout_seconds
        if not seconds:
            return None
        ending = Ending("timeout", "runner.timeout", f"the run took longer than {seconds:g} s")
        return asyncio.get_running_loop().call_later(seconds, session.stop, ending)

    async def _refuse(self, entry: Entry, reason: str) -> None:
        """No run: the sender is told, and the event is settled."""
        logger.warning("event %s can't be answered: %s", entry.event.envelope.event_id, reason)
        draft = Draft("event.settle")
        self._endings.call_off(draft, entry, "runner.unavailable", reason)
        settled = self._endings.settle(draft, entry.event, "failed", reason)
        row = self._endings.refuse(draft, entry, "runner.unavailable")
        await self._delivery.deliver(self._journal, draft.unit(), [row])
        self._outcomes.settled([settled])
