"""Builds the context that a runner receives: event, participants, conversation, granted resources, and cursors to the
rest.

It is plain JSON, built once and encoded once; a test compares it with the protocol's entity.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from parlour.core.access.grants import Grant, available_apis
from parlour.core.config.form_validation import with_defaults
from parlour.core.model.agent import Binding
from parlour.core.model.doors import DOORS
from parlour.core.model.event import Participant, RecordedEvent
from parlour.core.model.ids import RunId
from parlour.core.model.providers import Providers
from parlour.core.model.runner import RunnerDescriptor
from parlour_sdk.values import dataclass

from . import resources
from .text_fallback import to_text_only

_SOURCES = {"webui": "webui", "api": "api", "schedule": "scheduler", "system": "system"} | dict.fromkeys(DOORS, "api")


@dataclass(frozen=True, slots=True)
class InlineHistory:
    """The inlined messages, and the policy that was applied."""

    inline_policy: dict[str, Any]
    bootstrap: dict[str, Any] | None = None


NO_HISTORY = InlineHistory({"mode": "none"})


@dataclass(frozen=True, slots=True)
class ContextInputs:
    """Values that are known after the run's first unit."""

    run_id: RunId
    attempt: int
    transcript_seq: int
    deadline_at: int
    state: dict[str, dict[str, Any]]
    latest_cursor: str = ""
    inline_history: InlineHistory = NO_HISTORY
    variables: Mapping[str, Any] = field(default_factory=dict)
    """Values that plugins set for the event."""
    delivery: dict[str, Any] | None = None
    """Target of the reply, and what the target supports."""


def build_request(
    event: RecordedEvent,
    binding: Binding,
    descriptor: RunnerDescriptor,
    grant: Grant,
    providers: Providers,
    inputs: ContextInputs,
    host_version: str,
    time_zone: str,
    locale: str = "",
) -> dict[str, Any]:
    """Builds the request to a runner: its id, its name and the context."""
    envelope = event.envelope
    config_schema = descriptor.manifest.config_schema
    config = with_defaults(config_schema, binding.agent.runner_config)
    delivery = inputs.delivery or {"surface": envelope.surface}
    apis = delivery.get("platform_capabilities", ())
    actions = resources.permitted_actions(grant, envelope, binding.agent, apis)
    approvals = resources.approvals_version(binding.agent, envelope)
    resource_data = resources.describe_resources(grant, providers, actions, approvals)
    context: dict[str, Any] = {
        "run_id": inputs.run_id,
        "trigger": {
            "type": envelope.event_type,
            "source": _SOURCES.get(envelope.source, "platform"),
            "timestamp": event.created_at,
        },
        **event_parts(event, descriptor.manifest.capabilities.multimodal_input),
        "delivery": delivery,
        "resources": resource_data,
        "context": {
            "conversation_id": event.conversation_id,
            "thread_id": envelope.thread_id or None,
            "event_seq": event.seq,
            "transcript_seq": inputs.transcript_seq,
            "has_history_before": inputs.transcript_seq > 1,
            "latest_cursor": inputs.latest_cursor or None,
            "inline_policy": inputs.inline_history.inline_policy,
            "available_apis": available_apis(grant),
        },
        "state": inputs.state,
        "runtime": {
            "host": "parlour",
            "host_version": host_version,
            "trace_id": inputs.run_id,
            "attempt": inputs.attempt,
            "deadline_at": inputs.deadline_at or None,
            "locale": locale or None,
            "timezone": time_zone,
            "static_refs": resources.static_refs(config_schema, config, resource_data),
        },
        "config": config,
        "bootstrap": inputs.inline_history.bootstrap,
        "metadata": {"variables": dict(inputs.variables)} if inputs.variables else {},
    }
    return {"runner_id": descriptor.runner_id, "runner_name": descriptor.manifest.name, "context": context}


def event_parts(event: RecordedEvent, multimodal: bool) -> dict[str, Any]:
    """Returns the event and its participants, in the form that contexts and steering items share."""
    envelope = event.envelope
    return {
        "event": {
            "event_id": envelope.event_id,
            "event_type": envelope.event_type,
            "event_time": envelope.event_time or None,
            "source": envelope.source,
            "source_event_type": envelope.source_event_type or None,
            "data": envelope.data,
        },
        "input": envelope.input if multimodal else to_text_only(envelope.input),
        "conversation": {
            "conversation_id": event.conversation_id,
            "thread_id": envelope.thread_id or None,
            "sender_id": envelope.actor.id or None,
            "bot_id": envelope.bot_id or None,
            "workspace_id": envelope.workspace_id,
            "session_id": envelope.chat or None,
        },
        "actor": _actor(envelope.actor),
        "subject": _subject(envelope.subject),
    }


def _actor(participant: Participant) -> dict[str, Any] | None:
    if not participant.type:
        return None
    return {
        "actor_type": participant.type,
        "actor_id": participant.id or None,
        "actor_name": participant.name or None,
        "metadata": participant.data,
    }


def _subject(participant: Participant) -> dict[str, Any] | None:
    if not participant.type:
        return None
    return {"subject_type": participant.type, "subject_id": participant.id or None, "data": participant.data}
