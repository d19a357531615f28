"""Every event a platform can tell, `{namespace}.{action}`, so that routes can say `message.*` or `*`."""

import re
from typing import Any, Literal, Self

from pydantic import Field, JsonValue, PrivateAttr

from .base import Listed, Tolerant
from .chain import MessageChain
from .content import Content
from .events import ALIASES, PromptMessage
from .people import ChatType, Group, GroupMember, User

JoinType = Literal["invite", "request", "direct"]


class PlatformEvent(Tolerant):
    """The fields of every event. `event_id` is the same when a platform delivers the event again."""

    type: str
    event_id: str
    timestamp: int
    """When it happened, in milliseconds."""
    bot_id: str = ""
    adapter_name: str = ""
    _native: Any = PrivateAttr(default=None)

    @property
    def native(self) -> Any:
        """The platform's own object, for the adapter that created the event; it is never sent over the wire."""
        return self._native

    def carrying(self, native: Any) -> Self:
        """Returns a copy of the event with the platform's own object."""
        event = self.model_copy()
        event._native = native
        return event


class ChatEvent(PlatformEvent):
    """Base of events in a chat."""

    chat_type: ChatType
    chat_id: str
    group: Group | None = None


class MessageReceived(ChatEvent):
    """Somebody wrote."""

    type: Literal["message.received"] = "message.received"
    message_id: str
    message_chain: MessageChain
    sender: User


class MessageEdited(ChatEvent):
    """A message was changed."""

    type: Literal["message.edited"] = "message.edited"
    message_id: str
    new_content: MessageChain
    editor: User


class MessageDeleted(ChatEvent):
    """A message was taken away. A recall is a deletion."""

    type: Literal["message.deleted"] = "message.deleted"
    message_id: str
    operator: User | None = None


class MessageReaction(ChatEvent):
    """Somebody reacted to a message."""

    type: Literal["message.reaction"] = "message.reaction"
    message_id: str
    user: User
    reaction: str
    is_add: bool
    """False when the reaction was taken back."""


class FeedbackReceived(PlatformEvent):
    """An answer was rated. The same `feedback_id` again updates; type 1 likes, 2 dislikes, 3 withdraws."""

    type: Literal["feedback.received"] = "feedback.received"
    feedback_id: str
    feedback_type: int = Field(ge=1, le=3)
    feedback_content: str | None = None
    inaccurate_reasons: list[str] | None = None
    user_id: str | None = None
    session_id: str | None = None
    message_id: str | None = None
    stream_id: str | None = None


class GroupEvent(PlatformEvent):
    """Base of events about a group."""

    group: Group


class MemberJoined(GroupEvent):
    """Somebody is now in the group."""

    type: Literal["group.member_joined"] = "group.member_joined"
    member: GroupMember
    inviter: User | None = None
    join_type: JoinType | None = None


class MemberLeft(GroupEvent):
    """Somebody is no longer in the group."""

    type: Literal["group.member_left"] = "group.member_left"
    member: GroupMember
    is_kicked: bool = False
    operator: User | None = None


class MemberBanned(GroupEvent):
    """Somebody may no longer speak in the group, or be in it."""

    type: Literal["group.member_banned"] = "group.member_banned"
    member: GroupMember
    operator: User | None = None
    duration: int | None = Field(default=None, ge=0)
    """Seconds; none is for good."""


class MemberUnbanned(GroupEvent):
    """A ban was lifted."""

    type: Literal["group.member_unbanned"] = "group.member_unbanned"
    member: GroupMember
    operator: User | None = None
    duration: int | None = Field(default=None, ge=0)


class GroupInfoUpdated(GroupEvent):
    """The group's name or the like was changed."""

    type: Literal["group.info_updated"] = "group.info_updated"
    operator: User | None = None
    changed_fields: list[str] = []
    """Fields of `group`."""


class FriendRequestReceived(PlatformEvent):
    """Somebody wants to be the bot's friend."""

    type: Literal["friend.request_received"] = "friend.request_received"
    request_id: str
    user: User
    message: str | None = None


class FriendAdded(PlatformEvent):
    """Somebody is now the bot's friend."""

    type: Literal["friend.added"] = "friend.added"
    user: User


class FriendRemoved(PlatformEvent):
    """Somebody is no longer the bot's friend."""

    type: Literal["friend.removed"] = "friend.removed"
    user: User


class BotInvited(GroupEvent):
    """The bot was asked into a group, or put there."""

    type: Literal["bot.invited_to_group"] = "bot.invited_to_group"
    inviter: User | None = None
    request_id: str | None = None
    """To answer the invitation, where it waits for an answer."""


class BotRemoved(GroupEvent):
    """The bot is no longer in the group."""

    type: Literal["bot.removed_from_group"] = "bot.removed_from_group"
    operator: User | None = None


class BotMuted(GroupEvent):
    """The bot may no longer speak in the group."""

    type: Literal["bot.muted"] = "bot.muted"
    operator: User | None = None
    duration: int | None = Field(default=None, ge=0)


class BotUnmuted(GroupEvent):
    """The bot may speak again."""

    type: Literal["bot.unmuted"] = "bot.unmuted"
    operator: User | None = None
    duration: int | None = Field(default=None, ge=0)


class InteractionReceived(ChatEvent):
    """A button, a menu or a slash command was used."""

    type: Literal["interaction.received"] = "interaction.received"
    interaction_id: str
    user: User
    action_id: str
    value: JsonValue = None
    message_id: str | None = None


class PlatformSpecific(PlatformEvent):
    """What has no common shape yet: `platform.{adapter}.{action}`."""

    type: str = Field(pattern=r"^platform\.[a-z0-9_]+\.[A-Za-z0-9_.]+$")
    action: str
    data: dict[str, Any] = {}


class HostEvent(PlatformEvent):
    """Base of events that the Host creates, not a platform."""

    data: dict[str, Any] = {}


class ScheduleTriggered(HostEvent):
    """The time of a schedule has come."""

    type: Literal["schedule.triggered"] = "schedule.triggered"
    schedule_id: str


class ApiInvoked(HostEvent):
    """Somebody asked over the HTTP API."""

    type: Literal["api.invoked"] = "api.invoked"


class ApprovalDecided(HostEvent):
    """A person has decided about an action, or nobody did in time."""

    type: Literal["approval.decided"] = "approval.decided"
    approval_id: str
    decision: Literal["approve", "deny", "expired"]
    decided_by: str | None = None
    reason: str | None = None


class CommandSent(HostEvent):
    """Somebody used a command."""

    type: Literal["command.sent"] = "command.sent"
    command: str
    arguments: list[str] = []
    user: User
    chat_type: ChatType
    chat_id: str


class MessageResponded(HostEvent):
    """A reply has gone out."""

    type: Literal["message.responded"] = "message.responded"
    run_id: str | None = None
    message_chain: MessageChain
    chat_type: ChatType
    chat_id: str


class MessageArriving(HostEvent):
    """An agent is about to answer a message; a handler may answer, change or stop it."""

    type: Literal["message.arriving"] = "message.arriving"
    agent_id: str
    message_id: str
    message_chain: MessageChain
    sender: User
    chat_type: ChatType
    chat_id: str
    group: Group | None = None
    text: str | None = None
    """What the agent would read."""


class ReplyPreparing(HostEvent):
    """An agent completed a message; a handler may replace it, add further messages, or stop it."""

    type: Literal["reply.preparing"] = "reply.preparing"
    run_id: str
    agent_id: str | None = None
    conversation_id: str | None = None
    chat_type: ChatType
    chat_id: str
    text: str
    content: Content
    """The message as the agent wrote it."""


class TextFiltering(HostEvent):
    """A message policy names this plugin as a filter of a text; a handler says whether it found something."""

    type: Literal["text.filtering"] = "text.filtering"
    side: Literal["input", "output"]
    """`input` for what a person wrote, `output` for what an agent replies."""
    agent_id: str | None = None
    chat_type: ChatType
    chat_id: str
    text: str
    """All texts of the message: its own, captions, names of files, and quotes."""


class MessageFiltered(HostEvent):
    """A message policy ended or changed a message or a reply. The text itself is not part of the event."""

    type: Literal["message.filtered"] = "message.filtered"
    checkpoint: Literal["wake", "admit", "finish"]
    """`wake` and `admit` are about messages, `finish` is about replies."""
    verdict: Literal["dropped", "limited", "refused", "masked", "flagged", "withheld"]
    rules: list[str] = []
    """Fields of the message policy that decided, such as `filters.input.0`."""
    reason: str
    source_event_id: str
    """The event of the message."""
    run_id: str | None = None
    chat_type: ChatType
    chat_id: str


class PromptPreparing(HostEvent):
    """A prompt is about to be built; a listener may add to it, or replace its messages."""

    type: Literal["prompt.preparing"] = "prompt.preparing"
    run_id: str | None = None
    conversation_id: str | None = None
    text: str | None = None
    prompt: Listed[PromptMessage] = []
    """The messages of the prompt, with what earlier handlers changed."""


EVENTS: dict[str, type[PlatformEvent]] = {
    entity.model_fields["type"].default: entity
    for entity in (
        MessageReceived,
        MessageEdited,
        MessageDeleted,
        MessageReaction,
        FeedbackReceived,
        MemberJoined,
        MemberLeft,
        MemberBanned,
        MemberUnbanned,
        GroupInfoUpdated,
        FriendRequestReceived,
        FriendAdded,
        FriendRemoved,
        BotInvited,
        BotRemoved,
        BotMuted,
        BotUnmuted,
        InteractionReceived,
        ScheduleTriggered,
        ApiInvoked,
        ApprovalDecided,
        CommandSent,
        MessageResponded,
        MessageArriving,
        ReplyPreparing,
        TextFiltering,
        MessageFiltered,
        PromptPreparing,
    )
}
_PLATFORM = re.compile(r"platform\.[a-z0-9_]+\.[A-Za-z0-9_.]+")
_PATTERN = re.compile(r"\*|platform\.[a-z0-9_]+\.\*")


def event_class(event_type: str) -> type[PlatformEvent] | None:
    """Returns the class of this event type; None if there is no such type."""
    if _PLATFORM.fullmatch(event_type):
        return PlatformSpecific
    return EVENTS.get(ALIASES.get(event_type, event_type))


def is_event_pattern(pattern: str) -> bool:
    """Returns whether routes and listeners may use this pattern: an event type, `namespace.*` or `*`."""
    namespaces = {f"{name.split('.')[0]}.*" for name in EVENTS} | {"platform.*"}
    return pattern in namespaces or bool(_PATTERN.fullmatch(pattern)) or event_class(pattern) is not None
