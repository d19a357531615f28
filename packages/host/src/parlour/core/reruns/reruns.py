"""Executes reruns: an old event again, unchanged, with the same or another agent or configuration.

The history ends at the event, the state is a copy, and nothing is delivered. A rerun occupies no lane and has no inbox
row: one that is interrupted is over.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from parlour.core.access.grants import Grant
from parlour.core.config.agents import AgentRepository
from parlour.core.errors import CallRejected
from parlour.core.journal import Journal, Row, Select, Statement, Unit, one_of, other_than, where
from parlour.core.model.agent import Agent, Binding
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ids import NO_RUN, AgentId, PartId, PluginId, RunId
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.resource_policy import Names, Selection
from parlour.core.routing.agent_binder import agent_for_runner
from parlour.core.runs.dry_run_state import DryRunState
from parlour.core.runs.recovery import INTERRUPTED
from parlour.core.runs.run_checks import RunChecks, RunTarget, find_config_problem
from parlour.core.runs.run_grants import RunGrants
from parlour.core.runs.session import QueuedEvent, RunIdentity, RunSession
from parlour.core.runs.session_registry import RunSessions
from parlour.core.runs.starter import run_row
from parlour.core.secrets import SecretUnreadable
from parlour.core.store import ledger, transcript
from parlour.core.store.event_log import EventLog
from parlour.core.store.ledger import ACTIVE_STATUSES, Ledger
from parlour.core.store.state import StateStore
from parlour.core.store.tables import RUNS
from parlour_sdk.values import dataclass

from .rerun_executor import RerunExecutor

MAX_CONCURRENT_RERUNS = 16
"""Maximum number of concurrent reruns."""
JOIN_SECONDS = 3.0
"""Seconds that active reruns get to end when the Host stops."""


@dataclass(frozen=True, slots=True)
class RerunOptions:
    """The changes of a rerun; an option that is not set stays as in the original run."""

    agent_id: AgentId | None = None
    runner_config: Mapping[str, Any] | None = None
    effects: Names = ()
    """Tools that may run although they are not read-only."""


StartsPrograms = Callable[[PluginId], bool]
"""Returns whether a plugin was granted programs, whose effects a rerun can't hold back."""


class RerunTargets:
    """Resolves the agent, the runner and the grant of reruns."""

    def __init__(
        self, agents: AgentRepository, checks: RunChecks, grants: RunGrants, starts_programs: StartsPrograms
    ) -> None:
        self._agents = agents
        self._checks = checks
        self._grants = grants
        self._starts_programs = starts_programs

    def resolve(self, run: Row, options: RerunOptions, event: RecordedEvent) -> RunTarget:
        """Returns the target of a rerun. Raises CallRejected."""
        agent = self._agent(run, options)
        request = event.envelope.run_request
        if options.runner_config is not None:
            agent = replace(agent, runner_config=dict(options.runner_config))
        elif options.agent_id is None and request is not None and request.config is not None:
            agent = replace(agent, runner_config=dict(request.config))
        descriptor = self._checks.find_runner(agent)
        if self._starts_programs(descriptor.plugin_id):
            raise CallRejected(
                "not_supported", "its agent works with programs and files, so a rerun would have effects"
            )
        if problem := find_config_problem(descriptor, agent.runner_config):
            field, message = problem
            raise CallRejected("invalid_argument", f"runner_config.{field}: {message}")
        # cached call results belong to the original run; those of the rerun must not mix with them
        binding = Binding(replace(agent, journal_calls=False), run["bot_id"], f"a person's wish to see {run['run_id']}")
        try:
            return RunTarget(self._checks.with_secrets(binding), descriptor)
        except SecretUnreadable as failure:
            raise CallRejected("conflict", str(failure)) from failure

    def grant(self, run: Row, event: RecordedEvent, target: RunTarget) -> Grant:
        """Returns the grant of a rerun, computed for the event of the original run and this target."""
        return self._grants.for_rerun(run, event, target)

    def _agent(self, run: Row, options: RerunOptions) -> Agent:
        if options.agent_id is None and not run["agent_id"]:
            return agent_for_runner(run["runner_id"])
        agent_id = run["agent_id"] if options.agent_id is None else options.agent_id
        agent = self._agents.get(agent_id)
        if agent is None:
            owner = "agent_id: " if options.agent_id is not None else "the run's own "
            raise CallRejected("not_found", f"{owner}agent '{agent_id}' does not exist; name one that does")
        return agent


class Reruns:
    """Starts reruns and ends those that were interrupted."""

    def __init__(
        self,
        journal: Journal,
        targets: RerunTargets,
        executor: RerunExecutor,
        sessions: RunSessions,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._targets = targets
        self._executor = executor
        self._sessions = sessions
        self._ids = ids
        self._clock = clock
        self._log = EventLog(journal)
        self._ledger = Ledger(journal)
        self._state = StateStore(journal)
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, run: Row, options: RerunOptions, *extra_statements: Statement) -> Row:
        """Starts a rerun in the background and returns its ledger row. Raises Refused if it can't start."""
        if len(self._tasks) >= MAX_CONCURRENT_RERUNS:
            raise CallRejected(
                "rate_limited", f"{MAX_CONCURRENT_RERUNS} reruns are going on; wait for one to end", retryable=True
            )
        event = await self._log.get_by_seq(run["event_seq"])
        if event is None or not event.envelope.context.id:
            raise CallRejected("not_found", "the event of this run is not kept any more")
        target = self._targets.resolve(run, options, event)
        session = await self._session(run, options, event, target)
        self._sessions.register_pending(session)
        try:
            await self._open(session, target, run, extra_statements)
        except BaseException:
            self._sessions.unregister(session)
            raise
        task = asyncio.create_task(self._executor.execute(session, target.descriptor))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        row = await self._ledger.get_run(session.run_id)
        assert row is not None
        return row

    async def recover(self, part: PartId | None = None) -> None:
        """Ends reruns that a previous process of the Host, or the previous owner of a part, left active."""
        active_reruns = where(status=one_of(*ACTIVE_STATUSES), rerun_of=other_than(""))
        if part is not None:
            active_reruns += where(part=part)
        for row in await self._journal.read(Select(RUNS, active_reruns, ("run_id",))):
            if self._sessions.get(row["run_id"]) is None:  # a rerun that has just started continues
                await self._executor.end_interrupted(row["run_id"], INTERRUPTED)

    async def join(self) -> None:
        """Waits a few seconds until active reruns have ended, then cancels the rest. The caller has stopped their
        sessions before.
        """
        if self._tasks:
            _, unfinished = await asyncio.wait(self._tasks, timeout=JOIN_SECONDS)
            for task in unfinished:
                task.cancel()

    async def _session(self, run: Row, options: RerunOptions, event: RecordedEvent, target: RunTarget) -> RunSession:
        transcript_seq = await transcript.event_item_seq(self._journal, event)
        grant = self._targets.grant(run, event, target)
        entry = QueuedEvent(event, attempts=1, transcript_seq=transcript_seq)
        dry_run = DryRunState(
            rerun_of=run["run_id"],
            event_seq=event.seq,
            event_at=event.created_at,
            transcript_seq=transcript_seq,
            effects=Selection.parse(options.effects),
            state=await self._state.snapshot(grant.scopes),
        )
        multimodal = target.descriptor.manifest.capabilities.multimodal_input
        session = RunSession(
            RunIdentity(RunId(self._ids.new()), entry, target.binding, grant, multimodal=multimodal, dry_run=dry_run)
        )
        timeout = target.binding.agent.timeout_seconds
        session.deadline_at = self._clock.now() + int(timeout * 1000) if timeout else 0
        return session

    async def _open(
        self, session: RunSession, target: RunTarget, run: Row, extra_statements: tuple[Statement, ...]
    ) -> None:
        row = run_row(
            session.run_id,
            session.event,
            target,
            session.grant,
            attempt=1,
            parent_run_id=NO_RUN,
            deadline_at=session.deadline_at,
            now=self._clock.now(),
            status="running",
            rerun_of=run["run_id"],
        )
        await self._journal.commit(Unit("rerun.open", (ledger.insert_run(row), *extra_statements)))
