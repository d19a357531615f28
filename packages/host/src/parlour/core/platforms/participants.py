"""Determines the actor and the subject of every common event, as defined in `events.md`."""

from typing import Any

from parlour.core.model.event import Party
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

LONGEST_ID = 512


def actor(event: PlatformEvent) -> Party:
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
            return Party("user", user_id)
        case PlatformSpecific():
            named = (_named(event.data, name) for name in ("operator_id", "sender_id", "user_id"))
            return next(filter(None, named), Party())
    return Party()


def subject(event: PlatformEvent) -> Party:
    match event:
        case MessageReceived() | MessageEdited() | MessageDeleted() | MessageReaction():
            return Party("message", event.message_id)
        case FeedbackReceived():
            return Party("message", event.message_id or "")
        case MemberJoined() | MemberLeft() | MemberBanned() | MemberUnbanned():
            return Party("membership", event.member.user.id, data={"group_id": event.group.id})
        case GroupInfoUpdated():
            return Party("group", event.group.id, event.group.name)
        case FriendRequestReceived():
            return Party("friend_request", event.request_id)
        case FriendAdded() | FriendRemoved():
            return Party("friendship", event.user.id)
        case BotInvited() | BotRemoved() | BotMuted() | BotUnmuted():
            return Party("membership", event.bot_id, data={"group_id": event.group.id})
        case InteractionReceived():
            return Party("control", event.action_id)
        case PlatformSpecific():
            return _named(event.data, "target_id") or Party("platform", event.action)
    return Party()


def _named(data: dict[str, Any], name: str) -> Party | None:
    """Returns the user that a platform-specific event names in this field. The id 0 means no user."""
    told = data.get(name)
    known = isinstance(told, int | str) and not isinstance(told, bool) and told not in (0, "", "0")
    return Party("user", str(told)) if known and len(str(told)) <= LONGEST_ID else None


def _user(user: User | None) -> Party:
    if user is None:
        return Party()
    return Party("user", user.id, user.nickname, {"is_bot": True} if user.is_bot else {})


def _member(member: GroupMember) -> Party:
    return _user(member.user)
