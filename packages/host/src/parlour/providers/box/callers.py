"""Finds the policy and the session of a call to a tool of the Box."""

import hashlib
import json
from collections.abc import Collection

from parlour.core.box.messages import SessionSpec
from parlour.core.box.policy import BoxPolicy
from parlour.core.box.session_template import render, template_values
from parlour.core.config.agents import AgentRepository
from parlour.core.errors import CallRejected
from parlour.core.journal import Journal
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ids import AgentId, RunId
from parlour.core.model.providers import CallContext, ProviderFailed
from parlour.core.runs.session import RunSession
from parlour.core.runs.session_registry import RunSessions
from parlour.core.store.event_log import EventLog
from parlour.core.store.ledger import Ledger
from parlour_sdk.values import dataclass

from .skills import BoxSkills

SESSION_ID_CHARACTERS = 32
RUN_VARIABLE = "{run_id}"


@dataclass(frozen=True, slots=True)
class BoxCaller:
    """On whose behalf the Box is used: the agent's policy, and the session of the event."""

    policy: BoxPolicy
    session: SessionSpec
    run: RunSession | None
    """None if an approved call is executed after its run has ended."""
    active_skills: Collection[str] = ()
    """Names of the skills that are active in the conversation."""


class BoxCallers:
    """Resolves calls to their sessions."""

    def __init__(
        self,
        sessions: RunSessions,
        agents: AgentRepository,
        skills: BoxSkills,
        journal: Journal,
        force_template: str,
    ) -> None:
        self._sessions = sessions
        self._skills = skills
        self._agents = agents
        self._ledger = Ledger(journal)
        self._log = EventLog(journal)
        self._force_template = force_template

    async def find(self, context: CallContext) -> BoxCaller:
        """Returns the caller. Raises ProviderFailed if the call belongs to no run."""
        run = self._sessions.get(context.run_id)
        if run is not None:
            agent = run.binding.agent
            return await self._caller(BoxPolicy.decode(agent.box_policy), run.event, run.run_id, agent.agent_id, run)
        row = await self._ledger.get_run(context.run_id) if context.run_id else None
        event = await self._log.get_by_seq(int(row["event_seq"])) if row is not None else None
        stored = self._agents.get(context.agent_id)
        if event is None or stored is None:
            raise ProviderFailed("unauthorized", "a sandbox belongs to a run, and this call has none")
        policy = BoxPolicy.decode(stored.box_policy)
        return await self._caller(policy, event, context.run_id, context.agent_id, None)

    async def _caller(
        self, policy: BoxPolicy, event: RecordedEvent, run_id: RunId, agent_id: AgentId, run: RunSession | None
    ) -> BoxCaller:
        values = template_values(event, run_id, agent_id)
        try:
            title = render(self._force_template or policy.session_template, values)
        except CallRejected as rejection:
            raise ProviderFailed(rejection.code, rejection.message) from rejection
        granted = run.grant.resources.get("skills") if run is not None else None
        active = await self._skills.active(event.conversation_id) if granted or run is None else ()
        visible = self._skills.digests(active if run is None else granted or ())
        is_ephemeral = RUN_VARIABLE in (self._force_template or policy.session_template)
        fields = {"skills": visible, "ephemeral": is_ephemeral}
        spec = session_spec(policy, title, event.envelope.workspace_id).model_copy(update=fields)
        return BoxCaller(policy, spec, run, [name for name in active if name in visible])


def session_spec(policy: BoxPolicy, title: str, workspace_id: str) -> SessionSpec:
    """Returns the session of a policy. Agents with other limits get another session for the same chat."""
    limits = policy.limits
    parts = [workspace_id, policy.profile, policy.has_network, policy.is_read_only, title, *policy.shown_paths]
    session_id = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:SESSION_ID_CHARACTERS]
    return SessionSpec(
        session_id=session_id,
        title=title,
        workspace_id=workspace_id,
        cpus=limits.cpus,
        memory_mb=limits.memory_mb,
        processes=limits.processes,
        network=policy.has_network,
        read_only=policy.is_read_only,
        mounts=policy.shown_paths,
    )
