"""Sets up runs: fixes the grant, records the event and the user's message, and builds the runner's context."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.manifest import AgentRunnerManifest
from parlour_sdk.protocol.runs import AgentRun, RunCreate
from parlour_sdk.protocol.steering import SteeringItem

from ..values import dataclass
from . import context, grants
from .config import fill_in_defaults
from .event_fixture import EventFixture, create_event_fixture
from .events import BOT
from .host_resources import HostResources
from .policy import AccessOverrides
from .records import HostRecords, ReadableIds
from .sessions import Session

SteeringPlan = Sequence[str] | Mapping[int, str | Sequence[str]]
"""Messages of the user during the run: before the first pull, or by the number of the pull that returns them."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of one run that a test sets."""

    config: Mapping[str, Any] = field(default_factory=dict)
    steering: SteeringPlan = ()
    attempt: int = 1
    seconds: float = 0
    """Seconds that the run may take; 0 for no limit."""
    overrides: Mapping[str, Any] = field(default_factory=dict)


class RunSetup:
    def __init__(
        self, resources: HostResources, records: HostRecords, ids: ReadableIds, policy: AccessOverrides
    ) -> None:
        self._resources = resources
        self._records = records
        self._ids = ids
        self._policy = policy

    def open_run(
        self, manifest: AgentRunnerManifest, fixture: EventFixture, conversation_id: str, terms: RunOptions
    ) -> tuple[Session, AgentRunContext]:
        """Sets up a run. An invalid configuration or steering plan raises ValueError before anything is recorded."""
        config, planned = (
            fill_in_defaults(manifest.config_schema, dict(terms.config)),
            _steering_by_pull(terms.steering),
        )
        if any(planned.values()) and not manifest.capabilities.steering:
            raise ValueError("this runner does not declare the capability 'steering'; the Host would start another run")
        session = Session(
            self._ids.new("run"),
            manifest.id,
            manifest.name,
            conversation_id,
            self._grant(manifest, fixture, conversation_id),
            steering_by_pull=planned,
        )
        self._record_event(fixture, conversation_id)
        return session, self._context(manifest, session, fixture, config, terms)

    def record_steering(self, session: Session, text: str) -> SteeringItem:
        fixture = create_event_fixture(text, None, None, self._ids)
        self._record_event(fixture, session.conversation_id)
        return SteeringItem(
            claimed_run_id=session.run_id,
            runner_id=session.runner_id,
            event=fixture.event,
            input=fixture.input,
            actor=fixture.actor,
            subject=fixture.subject,
        )

    def build_claimed_context(self, run: AgentRun, request: RunCreate) -> AgentRunContext:
        """Builds the context of a claimed run for the remote worker that executes it."""
        fixture = create_event_fixture(request.event.input, None, request.event.actor, self._ids)
        manifest = AgentRunnerManifest(id=run.runner_id, name="default", label={"en_US": "default"})
        session = Session(run.run_id, run.runner_id, "default", run.conversation_id or "", grants.Grant(frozenset()))
        return self._context(manifest, session, fixture, request.config or {}, RunOptions(attempt=run.attempt))

    def _grant(self, manifest: AgentRunnerManifest, fixture: EventFixture, conversation_id: str) -> grants.Grant:
        scopes = fixture.scopes(manifest.id, conversation_id)
        allowed = {scope: key for scope, key in scopes.items() if scope in self._policy.state_scopes}
        available = self._resources.operations()
        return grants.grant_for_run(manifest, available, allowed, conversation_id, self._policy.other_conversations)

    def _context(
        self,
        manifest: AgentRunnerManifest,
        session: Session,
        fixture: EventFixture,
        config: dict[str, Any],
        terms: RunOptions,
    ) -> AgentRunContext:
        artifacts, able = self._records.artifacts, manifest.capabilities.multimodal_input
        inputs = context.RunContextInputs(
            run_id=session.run_id,
            event=fixture.event,
            input=context.to_readable_input(fixture.input, able, artifacts, session.conversation_id),
            conversation_id=session.conversation_id,
            actor=fixture.actor,
            subject=fixture.subject,
            attempt=terms.attempt,
            deadline_at=int((time.time() + terms.seconds) * 1000) if terms.seconds else None,
            config=config,
            state=self._records.state.snapshot(session.grant.scopes),
            history=self._records.transcript.for_conversation(session.conversation_id),
            overrides=terms.overrides,
        )
        return context.build_context(inputs, manifest, session.grant, self._resources.resources())

    def _record_event(self, fixture: EventFixture, conversation_id: str) -> None:
        event = fixture.event
        self._records.events.add(**fixture.record(), conversation_id=conversation_id, bot_id=BOT)
        if fixture.message is not None:
            self._records.transcript.add(
                conversation_id, fixture.message, event.event_id, event.event_type, fixture.actor
            )


def _steering_by_pull(steering: SteeringPlan) -> dict[int, list[str]]:
    planned: Mapping[int, str | Sequence[str]] = steering if isinstance(steering, Mapping) else {1: steering}
    return {number: [each] if isinstance(each, str) else list(each) for number, each in planned.items()}
