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
from .config import filled
from .events import BOT
from .facts import Facts, Ids
from .occasion import Occasion, heard
from .offer import Offer
from .policy import Policy
from .sessions import Session

Steered = Sequence[str] | Mapping[int, str | Sequence[str]]
"""Messages of the user during the run: before the first pull, or by the number of the pull that returns them."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The options of one run that a test sets."""

    config: Mapping[str, Any] = field(default_factory=dict)
    steering: Steered = ()
    attempt: int = 1
    seconds: float = 0
    """Seconds that the run may take; 0 for no limit."""
    overrides: Mapping[str, Any] = field(default_factory=dict)


class Openings:
    def __init__(self, offer: Offer, facts: Facts, ids: Ids, policy: Policy) -> None:
        self._offer = offer
        self._facts = facts
        self._ids = ids
        self._policy = policy

    def open(
        self, manifest: AgentRunnerManifest, occasion: Occasion, conversation_id: str, terms: Terms
    ) -> tuple[Session, AgentRunContext]:
        """Sets up a run. An invalid configuration or steering plan raises ValueError before anything is recorded."""
        config, planned = filled(manifest.config_schema, dict(terms.config)), _planned(terms.steering)
        if any(planned.values()) and not manifest.capabilities.steering:
            raise ValueError("this runner does not declare the capability 'steering'; the Host would start another run")
        session = Session(
            self._ids.new("run"),
            manifest.id,
            manifest.name,
            conversation_id,
            self._grant(manifest, occasion, conversation_id),
            at_pull=planned,
        )
        self._write_down(occasion, conversation_id)
        return session, self._context(manifest, session, occasion, config, terms)

    def said_meanwhile(self, session: Session, text: str) -> SteeringItem:
        occasion = heard(text, None, None, self._ids)
        self._write_down(occasion, session.conversation_id)
        return SteeringItem(
            claimed_run_id=session.run_id,
            runner_id=session.runner_id,
            event=occasion.event,
            input=occasion.input,
            actor=occasion.actor,
            subject=occasion.subject,
        )

    def context_of_claimed(self, run: AgentRun, asked: RunCreate) -> AgentRunContext:
        """Builds the context of a claimed run for the remote worker that executes it."""
        occasion = heard(asked.event.input, None, asked.event.actor, self._ids)
        manifest = AgentRunnerManifest(id=run.runner_id, name="default", label={"en_US": "default"})
        session = Session(run.run_id, run.runner_id, "default", run.conversation_id or "", grants.Grant(frozenset()))
        return self._context(manifest, session, occasion, asked.config or {}, Terms(attempt=run.attempt))

    def _grant(self, manifest: AgentRunnerManifest, occasion: Occasion, conversation_id: str) -> grants.Grant:
        scopes = occasion.scopes(manifest.id, conversation_id)
        allowed = {scope: key for scope, key in scopes.items() if scope in self._policy.state_scopes}
        there_are = self._offer.operations()
        return grants.for_run(manifest, there_are, allowed, conversation_id, self._policy.other_conversations)

    def _context(
        self,
        manifest: AgentRunnerManifest,
        session: Session,
        occasion: Occasion,
        config: dict[str, Any],
        terms: Terms,
    ) -> AgentRunContext:
        artifacts, able = self._facts.artifacts, manifest.capabilities.multimodal_input
        opening = context.Opening(
            run_id=session.run_id,
            event=occasion.event,
            input=context.readable(occasion.input, able, artifacts, session.conversation_id),
            conversation_id=session.conversation_id,
            actor=occasion.actor,
            subject=occasion.subject,
            attempt=terms.attempt,
            deadline_at=int((time.time() + terms.seconds) * 1000) if terms.seconds else None,
            config=config,
            state=self._facts.state.snapshot(session.grant.scopes),
            history=self._facts.transcript.of(session.conversation_id),
            overrides=terms.overrides,
        )
        return context.build(opening, manifest, session.grant, self._offer.resources())

    def _write_down(self, occasion: Occasion, conversation_id: str) -> None:
        event = occasion.event
        self._facts.events.add(**occasion.record(), conversation_id=conversation_id, bot_id=BOT)
        if occasion.message is not None:
            self._facts.transcript.add(conversation_id, occasion.message, event.event_id, event.event_type)


def _planned(steering: Steered) -> dict[int, list[str]]:
    planned: Mapping[int, str | Sequence[str]] = steering if isinstance(steering, Mapping) else {1: steering}
    return {number: [each] if isinstance(each, str) else list(each) for number, each in planned.items()}
