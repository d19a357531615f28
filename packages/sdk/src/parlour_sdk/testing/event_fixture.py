"""The event of a run with its actor, subject and input."""

import time
from collections.abc import Sequence
from typing import Any

from parlour_sdk.protocol.content import AgentInput, ContentElement, plain_text
from parlour_sdk.protocol.events import Actor, AgentEvent, Subject
from parlour_sdk.protocol.limits import INPUT_SUMMARY_CHARACTERS
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.platform_events import PlatformEvent

from ..values import dataclass
from .events import USER, find_actor, find_subject, to_input
from .grants import StateKey
from .records import ReadableIds

UserInput = str | AgentInput | Sequence[ContentElement]
COMMON_FIELDS = {"type", "event_id", "timestamp", "bot_id", "adapter_name"}


@dataclass(frozen=True, slots=True)
class EventFixture:
    event: AgentEvent
    input: AgentInput
    actor: Actor | None
    subject: Subject | None

    @property
    def message(self) -> Message | None:
        """The user's item of the transcript; None if the event is no message."""
        if self.event.event_type != "message.received":
            return None
        content = self.input.text if self.input.text is not None else list(self.input.contents)
        return Message(role="user", content=content, artifact_refs=list(self.input.attachments) or None)

    def record(self) -> dict[str, Any]:
        actor, subject = self.actor, self.subject
        return {
            **self.event.model_dump(include={"event_id", "event_type", "event_time", "source"}),
            "workspace_id": "default",
            "actor_type": actor.actor_type if actor else None,
            "actor_id": actor.actor_id if actor else None,
            "actor_name": actor.actor_name if actor else None,
            "subject_type": subject.subject_type if subject else None,
            "subject_id": subject.subject_id if subject else None,
            "input_summary": (self.input.text or plain_text(self.input.contents))[:INPUT_SUMMARY_CHARACTERS] or None,
        }

    def scopes(self, runner_id: str, conversation_id: str) -> dict[str, StateKey]:
        """Returns the keys of the state scopes; a scope whose ids are unknown is left out."""
        actor, subject = self.actor, self.subject
        keys: dict[str, StateKey] = {
            "conversation": ("conversation", runner_id, conversation_id),
            "binding": ("binding", runner_id),
            "runner": ("runner", runner_id),
        }
        if actor is not None and actor.actor_id:
            keys["actor"] = ("actor", runner_id, actor.actor_type, actor.actor_id)
        if subject is not None and subject.subject_id:
            keys["subject"] = ("subject", runner_id, subject.subject_type, subject.subject_id)
        return keys


def create_event_fixture(
    said: UserInput, event: PlatformEvent | AgentEvent | None, actor: Actor | None, ids: ReadableIds
) -> EventFixture:
    """Builds the event of a run: the given one, or a message of the default user."""
    agent_input = _input(said)
    if isinstance(event, PlatformEvent):
        event_input = agent_input if said else to_input(event)
        return EventFixture(_to_agent_event(event), event_input, actor or find_actor(event), find_subject(event))
    usual = actor or Actor(actor_type="user", actor_id=USER.id, actor_name=USER.nickname)
    if event is not None:
        return EventFixture(event, agent_input, usual, None)
    agent_event = AgentEvent(
        event_id=ids.new("event"),
        event_type="message.received",
        event_time=int(time.time() * 1000),
        source="platform",
    )
    return EventFixture(agent_event, agent_input, usual, Subject(subject_type="message", subject_id=ids.new("message")))


def _input(user_input: UserInput) -> AgentInput:
    match user_input:
        case AgentInput():
            return user_input
        case str():
            return AgentInput(text=user_input, contents=[{"type": "text", "text": user_input}] if user_input else [])  # type: ignore[list-item]
        case _:
            return AgentInput(text=plain_text(list(user_input)) or None, contents=list(user_input))


def _to_agent_event(platform_event: PlatformEvent) -> AgentEvent:
    return AgentEvent(
        event_id=platform_event.event_id,
        event_type=platform_event.type,
        event_time=platform_event.timestamp,
        source="platform",
        data=platform_event.model_dump(mode="json", exclude=COMMON_FIELDS, exclude_none=True),
    )
