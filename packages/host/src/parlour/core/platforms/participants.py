"""Determines the actor and the subject of every common event, as defined in `events.md`."""

from typing import Any

from parlour.core.model.event import Participant
from parlour_sdk.protocol.people import GroupMember, User
from parlour_sdk.protocol.platform_events import (
    BotInvited,
    BotMuted,
    BotRemoved,
    BotUnmuted,
    FeedbackReceived,
    FriendAdded,
    FriendRemoved,
    FriendRequestReceived,
    GroupInfoUpdated,
    InteractionReceived,
    MemberBanned,
    MemberJoined,
    MemberLeft,
    MemberUnbanned,
    MessageDeleted,
    MessageEdited,
    MessageReaction,
    MessageReceived,
    PlatformEvent,
    PlatformSpecific,
)

MAX_ID_CHARACTERS = 512


def actor(event: PlatformEvent) -> Participant:
    match event:
        case MessageReceived():
            return _user(event.sender)
        case MessageEdited():
            return _user(event.editor)
        case MessageReaction() | InteractionReceived():
            return _user(event.user)
        case FriendRequestReceived() | FriendAdded() | FriendRemoved():
            return _user(event.user)
        case MemberJoined():
            return _user(event.inviter) if event.inviter else _member(event.member)
        case MemberLeft() | MemberBanned() | MemberUnbanned():
            return _user(event.operator) if event.operator else _member(event.member)
        case MessageDeleted() | GroupInfoUpdated() | BotRemoved() | BotMuted() | BotUnmuted():
            return _user(event.operator)
        case BotInvited():
            return _user(event.inviter)
        case FeedbackReceived(user_id=str(user_id)):
            return Participant("user", user_id)
        case PlatformSpecific():
            candidates = (_user_in_data(event.data, name) for name in ("operator_id", "sender_id", "user_id"))
            return next(filter(None, candidates), Participant())
    return Participant()


def subject(event: PlatformEvent) -> Participant:
    match event:
        case MessageReceived() | MessageEdited() | MessageDeleted() | MessageReaction():
            return Participant("message", event.message_id)
        case FeedbackReceived():
            return Participant("message", event.message_id or "")
        case MemberJoined() | MemberLeft() | MemberBanned() | MemberUnbanned():
            return Participant("membership", event.member.user.id, data={"group_id": event.group.id})
        case GroupInfoUpdated():
            return Participant("group", event.group.id, event.group.name)
        case FriendRequestReceived():
            return Participant("friend_request", event.request_id)
        case FriendAdded() | FriendRemoved():
            return Participant("friendship", event.user.id)
        case BotInvited() | BotRemoved() | BotMuted() | BotUnmuted():
            return Participant("membership", event.bot_id, data={"group_id": event.group.id})
        case InteractionReceived():
            return Participant("control", event.action_id)
        case PlatformSpecific():
            return _user_in_data(event.data, "target_id") or Participant("platform", event.action)
    return Participant()


def _user_in_data(data: dict[str, Any], name: str) -> Participant | None:
    """Returns the user that a platform-specific event names in this field. The id 0 means no user."""
    value = data.get(name)
    is_valid = isinstance(value, int | str) and not isinstance(value, bool) and value not in (0, "", "0")
    return Participant("user", str(value)) if is_valid and len(str(value)) <= MAX_ID_CHARACTERS else None


def _user(user: User | None) -> Participant:
    if user is None:
        return Participant()
    return Participant("user", user.id, user.nickname, {"is_bot": True} if user.is_bot else {})


def _member(member: GroupMember) -> Participant:
    return _user(member.user)
