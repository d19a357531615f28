"""Executes reruns: an old event again, unchanged, with the same or another agent or configuration.

The history ends at the event, the state is a copy, and nothing is delivered. A rerun occupies no lane and has no inbox
row: one that is interrupted is over.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from parlour.core.access import grants
from parlour.core.access.grant_intersection import intersect_grants
from parlour.core.access.grants import Grant
from parlour.core.config.agents import AgentRepository
from parlour.core.config.form_validation import validate, with_defaults
from parlour.core.errors import CallRejected
from parlour.core.journal import Journal, Row, Select, Statement, StorageFailed, Unit, one_of, other_than, where
from parlour.core.model.agent import Agent, Binding
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ports import Clock, Ids, PluginCaller
from parlour.core.model.providers import Providers
from parlour.core.model.resource_policy import Names, Selection
from parlour.core.model.runner import RunnerDescriptor
from parlour.core.routing.router import agent_for_runner
from parlour.core.runs.dry_run_state import DryRunState
from parlour.core.runs.plugin_call import run_plugin
from parlour.core.runs.recovery import INTERRUPTED
from parlour.core.runs.runner_registry import RunnerRegistry, missing_runner_message
from parlour.core.runs.session import QueuedEvent, RunSession, RunSessions, RunTermination
from parlour.core.runs.starter import RunStarter, run_row
from parlour.core.runs.unrecorded_usage import load_unrecorded_usage
from parlour.core.secrets import SecretUnreadable
from parlour.core.store import ledger, transcript
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.event_log import EventLog
from parlour.core.store.ledger import ACTIVE_STATUSES, Ledger, RunEnd
from parlour.core.store.state import StateStore
from parlour.core.store.tables import RUNS
from parlour_sdk.values import dataclass

from .recorder import RerunRecorder

logger = logging.getLogger(__name__)

MAX_CONCURRENT_RERUNS = 16
"""Maximum number of concurrent reruns."""
JOIN_SECONDS = 3.0
"""Seconds that active reruns get to end when the Host stops."""
STORAGE_RETRY_SECONDS = 1.0
"""Seconds between attempts to write the end of a rerun while the database fails."""
UNWRITTEN = RunTermination("failed", "runtime_error", "the database could not keep what it said")
BROKEN = RunTermination("failed", "runtime_error", "the Host failed to carry it out; its log says why")


@dataclass(frozen=True, slots=True)
class RerunOptions:
    """The changes of a rerun; an option that is not set stays as in the original run."""

    agent_id: str | None = None
    runner_config: Mapping[str, Any] | None = None
    effects: Names = ()
    """Tools that may run although they are not read-only."""


class Reruns:
    """Starts reruns and ends those that were interrupted."""

    def __init__(
        self,
        journal: Journal,
        plugins: PluginCaller,
        agents: AgentRepository,
        registry: RunnerRegistry,
        providers: Providers,
        openings: RunStarter,
        artifacts: ArtifactService,
        sessions: RunSessions,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._plugins = plugins
        self._agents = agents
        self._registry = registry
        self._providers = providers
        self._openings = openings
        self._artifacts = artifacts
        self._sessions = sessions
        self._ids = ids
        self._clock = clock
        self._log = EventLog(journal)
        self._ledger = Ledger(journal)
        self._state = StateStore(journal)
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, run: Row, wish: RerunOptions, *beside: Statement) -> Row:
        """Starts a rerun in the background and returns its ledger row. Raises Refused if it can't start."""
        if len(self._tasks) >= MAX_CONCURRENT_RERUNS:
            raise CallRejected(
                "rate_limited", f"{MAX_CONCURRENT_RERUNS} reruns are going on; wait for one to end", retryable=True
            )
        event = await self._log.get_by_seq(run["event_seq"])
        if event is None or not event.envelope.context.id:
            raise CallRejected("not_found", "the event of this run is not kept any more")
        binding, descriptor = self._target(run, wish, event)
        session = await self._session(run, wish, event, binding, descriptor)
        self._sessions.register_pending(session)
        try:
            await self._open(session, descriptor, run, beside)
        except BaseException:
            self._sessions.unregister(session)
            raise
        task = asyncio.create_task(self._serve(session, descriptor))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        opened = await self._ledger.get_run(session.run_id)
        assert opened is not None
        return opened

    async def recover(self) -> None:
        """Ends reruns that a previous process of the Host left active."""
        left = where(status=one_of(*ACTIVE_STATUSES), rerun_of=other_than(""))
        for row in await self._journal.read(Select(RUNS, left, ("run_id",))):
            if self._sessions.get(row["run_id"]) is None:  # a rerun that has just started continues
                await self._end_interrupted(row["run_id"], INTERRUPTED)

    async def join(self) -> None:
        """Waits a few seconds until active reruns have ended, then cancels the rest. The caller has stopped their
        sessions before.
        """
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=JOIN_SECONDS)
            for task in late:
                task.cancel()

    def _target(self, run: Row, wish: RerunOptions, event: RecordedEvent) -> tuple[Binding, RunnerDescriptor]:
        agent = self._agent(run, wish)
        commission = event.envelope.run_request
        if wish.runner_config is not None:
            agent = replace(agent, runner_config=dict(wish.runner_config))
        elif wish.agent_id is None and commission is not None and commission.config is not None:
            agent = replace(agent, runner_config=dict(commission.config))
        descriptor = self._registry.get(agent.runner_id)
        if descriptor is None:
            raise CallRejected("not_found", missing_runner_message(agent.runner_id))
        if descriptor.plugin_id not in Selection.parse(agent.resource_policy.plugins):
            raise CallRejected("denied", f"plugin {descriptor.plugin_id} is not among the plugins this agent may use")
        form = descriptor.manifest.config_schema
        for field, sentence in validate(form, with_defaults(form, agent.runner_config)):
            raise CallRejected("invalid_argument", f"runner_config.{field}: {sentence}")
        # cached call results belong to the original run; those of the rerun must not mix with them
        binding = Binding(replace(agent, journal_calls=False), run["bot_id"], f"a person's wish to see {run['run_id']}")
        try:
            return self._openings.with_secrets(binding), descriptor
        except SecretUnreadable as failure:
            raise CallRejected("conflict", str(failure)) from failure

    def _agent(self, run: Row, wish: RerunOptions) -> Agent:
        if wish.agent_id is None and not run["agent_id"]:
            return agent_for_runner(run["runner_id"])
        agent_id = run["agent_id"] if wish.agent_id is None else wish.agent_id
        agent = self._agents.get(agent_id)
        if agent is None:
            told = "agent_id: " if wish.agent_id is not None else "the run's own "
            raise CallRejected("not_found", f"{told}agent '{agent_id}' does not exist; name one that does")
        return agent

    async def _session(
        self, run: Row, wish: RerunOptions, event: RecordedEvent, binding: Binding, descriptor: RunnerDescriptor
    ) -> RunSession:
        numbered = await transcript.event_item_seq(self._journal, event)
        grant = self._grant(run, event, binding, descriptor)
        entry = QueuedEvent(event, attempts=1, transcript_seq=numbered)
        session = RunSession(self._ids.new(), entry, binding, grant, steerable=False)
        session.multimodal = descriptor.manifest.capabilities.multimodal_input
        timeout = binding.agent.timeout_seconds
        session.deadline_at = self._clock.now() + int(timeout * 1000) if timeout else 0
        session.dry_run = DryRunState(
            rerun_of=run["run_id"],
            event_seq=event.seq,
            event_at=event.created_at,
            transcript_seq=numbered,
            effects=Selection.parse(wish.effects),
            state=await self._state.snapshot(grant.scopes),
        )
        return session

    def _grant(self, run: Row, event: RecordedEvent, binding: Binding, descriptor: RunnerDescriptor) -> Grant:
        """Computes a new grant for the sender of the event. A run that was created by a plugin gets at most what it had
        then.
        """
        grant = grants.compute(event, binding, descriptor, self._providers)
        if event.envelope.run_request is None:
            return grant
        return intersect_grants(
            grant, grants.from_snapshot(run["snapshot"], event, binding, descriptor), within_a_run=True
        )

    async def _open(
        self, session: RunSession, descriptor: RunnerDescriptor, run: Row, beside: tuple[Statement, ...]
    ) -> None:
        row = run_row(
            session.run_id,
            session.event,
            session.binding,
            descriptor,
            session.grant,
            attempt=1,
            parent_run_id="",
            deadline_at=session.deadline_at,
            now=self._clock.now(),
            status="running",
            rerun_of=run["run_id"],
        )
        await self._journal.commit(Unit("rerun.open", (ledger.insert_run(row), *beside)))

    async def _serve(self, session: RunSession, descriptor: RunnerDescriptor) -> None:
        """Executes the rerun. This is a supervision boundary: no caller receives its errors."""
        assert session.dry_run is not None
        recorder = RerunRecorder(session, session.dry_run, self._journal, self._artifacts, self._clock)
        try:
            # the runner receives the state as of the start; later writes to the copy must not change the request
            state = {scope: dict(values) for scope, values in session.dry_run.state.items()}
            request = await self._openings.build_request(session, descriptor, state)
            await run_plugin(self._plugins, descriptor.plugin_id, request, session, recorder, self._clock)
        except StorageFailed as failure:
            logger.error("rerun %s is interrupted: %s", session.run_id, failure.message)
            await self._end_interrupted(session.run_id, UNWRITTEN)
        except Exception:
            logger.exception("rerun %s could not be executed", session.run_id)
            await self._end_interrupted(session.run_id, BROKEN)
        finally:
            self._sessions.unregister(session)

    async def _end_interrupted(self, run_id: str, ending: RunTermination) -> None:
        """Writes the end of a rerun and retries while the database fails; if the Host stops before, the next start does
        it.
        """
        while True:
            try:
                run = await self._ledger.get_run(run_id)
                if run is None or run["status"] not in ACTIVE_STATUSES:
                    return
                now = self._clock.now()
                left = await load_unrecorded_usage(self._ledger, run, now)
                end = RunEnd(ending.status, ending.code, ending.error, left.usage)
                await self._journal.commit(Unit("rerun.interrupt", (ledger.end_run(run_id, end, now), *left.rows)))
                return
            except StorageFailed:
                await asyncio.sleep(STORAGE_RETRY_SECONDS)
