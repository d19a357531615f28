"""The single entry for every run: opens it, calls its plugin, applies its results, closes it whatever happens."""

import asyncio
import logging
from dataclasses import dataclass, field

from parlour.core.access import grants
from parlour.core.access.grants import Grant
from parlour.core.agents.agent import Binding
from parlour.core.agents.registry import Descriptor, Registry
from parlour.core.delivery.delivery import Delivery
from parlour.core.facts import inbox, ledger, transcript
from parlour.core.facts.ledger import NewRun
from parlour.core.facts.state import State
from parlour.core.journal import Draft, Journal, Ref, resolved
from parlour.core.ports import Clock, Ids, PluginCaller, PluginLost, PluginRefused, PluginUnavailable

from . import context
from .ending import Aftermath, Endings
from .outcomes import Outcomes
from .recorder import Recorder
from .session import Ending, Entry, RunSession, Sessions, Stopped

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Turn:
    """What goes back to the head of the lane, in order."""

    back: list[Entry] = field(default_factory=list)


class Orchestrator:
    def __init__(
        self,
        journal: Journal,
        plugins: PluginCaller,
        registry: Registry,
        sessions: Sessions,
        delivery: Delivery,
        endings: Endings,
        outcomes: Outcomes,
        ids: Ids,
        clock: Clock,
        host_version: str,
    ) -> None:
        self._journal = journal
        self._plugins = plugins
        self._registry = registry
        self._sessions = sessions
        self._delivery = delivery
        self._endings = endings
        self._outcomes = outcomes
        self._state = State(journal)
        self._ids = ids
        self._clock = clock
        self._host_version = host_version

    async def run(self, entry: Entry, binding: Binding) -> Turn:
        descriptor = self._registry.get(binding.agent.runner_id)
        if descriptor is None:
            await self._refuse(entry, f"runner '{binding.agent.runner_id}' is not installed or did not start")
            return Turn()
        grant = grants.compute(entry.event, binding, descriptor)
        steerable = "steering_pull" in grant.apis
        session = RunSession(self._ids.new(), entry, binding, grant, steerable)
        request = await self._open(session, descriptor, grant)
        self._sessions.register(session)
        self._delivery.feed.run_started(entry.event.conversation_id, session.run_id)
        try:
            aftermath = await self._serve(session, descriptor, request)
        finally:
            self._sessions.unregister(session)
        self._outcomes.settled(aftermath.settled)
        if aftermath.retry:
            entry.parent_run_id = session.run_id
            return Turn(sorted([entry, *aftermath.owed_again], key=lambda each: each.seq))
        return Turn(aftermath.owed_again)

    async def _open(self, session: RunSession, descriptor: Descriptor, grant: Grant) -> dict[str, object]:
        """One unit: the attempt, the ledger row, the user's transcript item. Then the context is built."""
        entry, agent, now = session.entry, session.binding.agent, self._clock.now()
        event = entry.event
        deadline_at = now + int(agent.timeout_seconds * 1000) if agent.timeout_seconds else 0
        draft = Draft("run.open")
        numbered: int | Ref = entry.transcribed or transcript.add_user_item(draft, self._ids.new(), event, now)
        draft.add(
            inbox.begin(event.seq, session.run_id, numbered),
            ledger.open_run(
                NewRun(
                    run_id=session.run_id,
                    event_seq=event.seq,
                    event_id=event.envelope.event_id,
                    agent_id=agent.agent_id,
                    binding_id=session.binding.binding_id,
                    runner_id=descriptor.runner_id,
                    plugin_id=descriptor.plugin_id,
                    conversation_id=event.conversation_id,
                    thread_id=event.envelope.thread_id,
                    workspace_id=event.envelope.workspace_id,
                    bot_id=event.envelope.bot_id,
                    attempt=entry.attempts + 1,
                    parent_run_id=entry.parent_run_id,
                    snapshot=grant.encode(),
                    deadline_at=deadline_at,
                    now=now,
                )
            ),
        )
        snapshot = await self._state.snapshot(grant.scopes)
        receipt = await self._journal.commit(draft.unit())
        entry.attempts += 1
        entry.transcribed = resolved(receipt, numbered)
        opening = context.Opening(
            run_id=session.run_id,
            attempt=entry.attempts,
            transcript_seq=entry.transcribed,
            deadline_at=deadline_at,
            state=snapshot,
        )
        return context.build(event, session.binding, descriptor, grant, opening, self._host_version)

    async def _serve(self, session: RunSession, descriptor: Descriptor, request: dict[str, object]) -> Aftermath:
        recorder = Recorder(session, self._journal, self._delivery, self._endings, self._ids, self._clock)
        timer = self._set_deadline(session)
        try:
            session.stream = stream = self._plugins.run_agent(descriptor.plugin_id, request)
            while not session.is_over():
                batch = await stream.batch()
                if session.is_over():
                    break
                aftermath = await recorder.take(batch) if batch else await recorder.end(None)
                if aftermath is not None:
                    return aftermath
        except Stopped:
            pass
        except PluginLost as lost:
            return await recorder.end(Ending("failed", lost.code, "the plugin's process ended during the run"))
        except PluginRefused as refusal:
            return await recorder.end(Ending("failed", "runner.error", str(refusal)))
        except PluginUnavailable as absence:
            return await recorder.end(Ending("failed", absence.code, str(absence)))
        finally:
            if timer is not None:
                timer.cancel()
            if session.stream is not None:
                session.stream.abort(Stopped())  # whatever the runner still says is of no interest
        return await recorder.end(session.stopping)

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
        settled = self._endings.settle(draft, entry.event, "failed", reason)
        row = self._endings.refuse(draft, entry, "runner.unavailable")
        await self._delivery.deliver(self._journal, draft.unit(), [row])
        self._outcomes.settled([settled])
