"""Builds events for tests with default values, and derives the input, actor and subject that a run receives."""

import time
from itertools import count
from typing import Any, TypeVar

from pydantic import ValidationError

from parlour_sdk.api.chains import Chain, as_chain
from parlour_sdk.protocol.chain import At, AtAll, Image, Media, MessageChain, Plain, Quote, Video, Voice, chain_text
from parlour_sdk.protocol.content import (
    AgentInput,
    ContentElement,
    MediaElement,
    MentionElement,
    QuoteElement,
    TextElement,
)
from parlour_sdk.protocol.events import Actor, Subject
from parlour_sdk.protocol.people import Group, GroupMember, User
from parlour_sdk.protocol.platform_events import MessageReceived, PlatformEvent

Event = TypeVar("Event", bound=PlatformEvent)

BOT = "bot-1"
USER = User(id="user-1", nickname="User One")
GROUP = Group(id="group-1", name="Group One")
_numbers = count(1)
"""Numbers in the ids of sample events, so that no two events of a test have the same id."""


def event(kind: type[Event], **fields: Any) -> Event:
    """Builds an event of this class: `event(MemberJoined, member=...)`. User, group and other fields have defaults."""
    accepted = {name: value for name, value in _default_fields(fields).items() if name in kind.model_fields}
    try:
        return kind.model_validate({**_without_group(kind, accepted), **fields})
    except ValidationError as error:
        missing = [str(each["loc"][0]) for each in error.errors() if each["type"] == "missing"]
        if missing:
            raise TypeError(f"event({kind.__name__}) also needs {', '.join(missing)}") from None
        raise


def message(chain: Chain, **fields: Any) -> MessageReceived:
    """Builds a received message: `message("hello")`, `message("hello", group=GROUP)`."""
    return event(MessageReceived, message_chain=as_chain(chain), **fields)


def _default_fields(fields: dict[str, Any]) -> dict[str, Any]:
    number = next(_numbers)
    private = "group" not in fields and fields.get("chat_type", "private") == "private"
    return {
        "event_id": f"event-{number}",
        "timestamp": int(time.time() * 1000),
        "bot_id": BOT,
        "adapter_name": "fake",
        "message_id": f"message-{number}",
        "user": USER,
        "sender": USER,
        "editor": USER,
        "group": GROUP,
        "member": GroupMember(user=USER, group_id=GROUP.id),
        "feedback_id": f"feedback-{number}",
        "request_id": f"request-{number}",
        "interaction_id": f"interaction-{number}",
        "is_add": True,
        "is_kicked": False,
        "side": "input",
        "chat_type": "private" if private else "group",
        "chat_id": USER.id if private else GROUP.id,
    }


def _without_group(kind: type[PlatformEvent], fields: dict[str, Any]) -> dict[str, Any]:
    """Removes the default group of a private chat, unless the event always has a group."""
    group = kind.model_fields.get("group")
    if group is None or group.is_required() or fields.get("chat_type") != "private":
        return fields
    return {name: value for name, value in fields.items() if name != "group"}


def to_input(event: PlatformEvent) -> AgentInput:
    """Returns the input of a message; empty for any other event."""
    if not isinstance(event, MessageReceived):
        return AgentInput()
    return AgentInput(text=chain_text(event.message_chain) or None, contents=_contents(event.message_chain))


def find_actor(event: PlatformEvent) -> Actor | None:
    for name in ("sender", "editor", "user", "member", "inviter", "operator"):
        participant = getattr(event, name, None)
        user = participant.user if isinstance(participant, GroupMember) else participant
        if isinstance(user, User):
            return Actor(actor_type="user", actor_id=user.id, actor_name=user.nickname or None)
    if isinstance(user_id := getattr(event, "user_id", None), str):
        return Actor(actor_type="user", actor_id=user_id)
    return Actor(actor_type="system") if event.type.startswith("schedule.") else None


def find_subject(event: PlatformEvent) -> Subject | None:
    candidates = {
        "message_id": "message",
        "feedback_id": "feedback",
        "request_id": "request",
        "schedule_id": "schedule",
        "approval_id": "approval",
    }
    for field, kind in candidates.items():
        if isinstance(subject_id := getattr(event, field, None), str):
            return Subject(subject_type=kind, subject_id=subject_id)
    if isinstance(member := getattr(event, "member", None), GroupMember):
        return Subject(subject_type="membership", subject_id=f"{member.group_id}/{member.user.id}")
    if isinstance(group := getattr(event, "group", None), Group):
        return Subject(subject_type="group", subject_id=group.id)
    return None


def _contents(chain: MessageChain) -> list[ContentElement]:
    return [element for component in chain if (element := _element(component)) is not None]


def _element(component: Any) -> ContentElement | None:
    match component:
        case Plain():
            return TextElement(text=component.text)
        case At():
            return MentionElement(user_id=component.target, name=component.display)
        case AtAll():
            return MentionElement(user_id="", everyone=True)
        case Quote():
            return QuoteElement(message_id=component.id, sender=component.sender, contents=_contents(component.origin))
        case Media():
            kind = {Image: "image", Voice: "audio", Video: "video"}.get(type(component), "file")
            sources = {"url": component.url, "content_base64": component.base64, "artifact_id": component.artifact_id}
            details = {"name": component.name, "mime_type": component.mime_type, "size_bytes": component.size}
            return MediaElement(type=kind, **details, **sources) if any(sources.values()) else None  # type: ignore[arg-type]
        case _:
            return None
