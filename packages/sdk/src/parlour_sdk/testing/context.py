"""Builds the context of a run, as the Host would."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from pydantic import BaseModel

from parlour_sdk.protocol.content import AgentInput, ArtifactRef, ContentElement, MediaElement, TextElement
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.events import Actor, AgentEvent, Subject
from parlour_sdk.protocol.history import TranscriptItem
from parlour_sdk.protocol.limits import BOOTSTRAP_BYTES, BOOTSTRAP_ITEMS
from parlour_sdk.protocol.manifest import AgentRunnerManifest, ContextPolicy

from ..values import dataclass
from .events import BOT
from .grants import Grant
from .served.artifacts import Artifacts
from .served.catalog import VERSION

ROLES = ("user", "assistant", "system", "tool")


@dataclass(frozen=True, slots=True)
class RunContextInputs:
    """The inputs from which the context of a run is built."""

    run_id: str
    event: AgentEvent
    input: AgentInput
    conversation_id: str
    actor: Actor | None
    subject: Subject | None
    attempt: int
    deadline_at: int | None
    config: dict[str, Any]
    state: dict[str, dict[str, Any]]
    history: Sequence[TranscriptItem] = ()
    """The conversation; the event's own item is the last."""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the context that the test replaces."""


def build_context(
    inputs: RunContextInputs, manifest: AgentRunnerManifest, grant: Grant, resources: Mapping[str, Sequence[BaseModel]]
) -> AgentRunContext:
    history = inputs.history
    inline_policy, bootstrap = _inline_history(manifest.context, history, inputs.input)
    return AgentRunContext.model_validate(
        {
            "run_id": inputs.run_id,
            "trigger": {"type": inputs.event.event_type, "source": "platform", "timestamp": inputs.event.event_time},
            "event": inputs.event,
            "conversation": {
                "conversation_id": inputs.conversation_id,
                "sender_id": inputs.actor.actor_id if inputs.actor else None,
                "bot_id": BOT,
                "workspace_id": "default",
            },
            "actor": inputs.actor,
            "subject": inputs.subject,
            "input": inputs.input,
            "delivery": {"surface": "fake", "supports_streaming": True, "supports_edit": True},
            "resources": _project_resources(grant, resources),
            "context": {
                "conversation_id": inputs.conversation_id,
                "latest_cursor": history[-1].cursor if history else None,
                "transcript_seq": len(history),
                "has_history_before": len(history) > 1,
                "inline_policy": inline_policy,
                "available_apis": dict.fromkeys(grant.apis, True),
            },
            "state": inputs.state,
            "runtime": {
                "host_version": VERSION,
                "trace_id": inputs.run_id,
                "attempt": inputs.attempt,
                "deadline_at": inputs.deadline_at,
                "locale": "en_US",
                "timezone": "UTC",
            },
            "config": inputs.config,
            "bootstrap": bootstrap,
            **inputs.overrides,
        }
    )


def to_readable_input(given: AgentInput, multimodal: bool, artifacts: Artifacts, conversation_id: str) -> AgentInput:
    """Replaces media by artifacts and a text note if the runner accepts only text."""
    if multimodal or not any(isinstance(part, MediaElement) for part in given.contents):
        return given
    contents: list[ContentElement] = []
    attachments: list[ArtifactRef] = list(given.attachments)
    for part in given.contents:
        if not isinstance(part, MediaElement):
            contents.append(part)
            continue
        artifact = artifacts.stored.get(part.artifact_id or "") or artifacts.store(
            base64.b64decode(part.content_base64 or ""),
            part.type,
            mime_type=part.mime_type,
            name=part.name,
            conversation_id=conversation_id,
        )
        attachments.append(artifact.ref)
        contents.append(TextElement(text=f"[{part.type}: {part.name or artifact.metadata.artifact_id}]"))
    return AgentInput(text=given.text, contents=contents, attachments=attachments)


def _project_resources(grant: Grant, resources: Mapping[str, Sequence[BaseModel]]) -> dict[str, Any]:
    projected: dict[str, Any] = {"storage": {f"{area}_storage": True for area in grant.storage}}
    keys = {"models": "model_id", "tools": "tool_name", "knowledge_bases": "kb_id", "skills": "skill_name"}
    for kind, operations in grant.resources.items():
        key = keys.get(kind, "file_id")
        permitted = [each for each in resources[kind] if operations.get(getattr(each, key))]
        projected[kind] = [
            {**each.model_dump(), "operations": sorted(operations[getattr(each, key)])} for each in permitted
        ]
    projected["platform_capabilities"] = list(grant.actions)
    return projected


def _inline_history(
    policy: ContextPolicy, history: Sequence[TranscriptItem], agent_input: AgentInput
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    if policy.bootstrap == "none":
        return {"mode": "none"}, None
    previous_items = list(history[:-1])
    if policy.bootstrap == "current_event":
        summary = {"mode": "current_event", "delivered_count": 1, "messages_complete": not previous_items}
        return summary, {"messages": [{"role": "user", "content": agent_input.text or ""}]}
    inlined = _tail(previous_items, policy)
    summary = {
        "mode": "recent_tail",
        "delivered_count": len(inlined),
        "source_total_count": len(previous_items),
        "messages_complete": len(inlined) == len(previous_items),
    }
    roles = [each.role if each.role in ROLES else "system" for each in inlined]
    messages = [{"role": role, "content": each.content or ""} for role, each in zip(roles, inlined, strict=True)]
    return summary, {"messages": messages}


def _tail(previous_items: list[TranscriptItem], policy: ContextPolicy) -> list[TranscriptItem]:
    """Returns the newest items within the size limits, up to the first one that does not fit."""
    remaining_bytes = min(policy.max_inline_bytes or BOOTSTRAP_BYTES, BOOTSTRAP_BYTES)
    selected: list[TranscriptItem] = []
    max_items = min(policy.max_inline_events, BOOTSTRAP_ITEMS)
    for item in reversed(previous_items[-max_items:] if max_items else []):
        remaining_bytes -= len((item.content or "").encode())
        if remaining_bytes < 0:
            break
        selected.insert(0, item)
    return selected
