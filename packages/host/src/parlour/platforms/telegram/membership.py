"""Converts membership changes, from updates and service messages of Telegram, into common events.

A change can be reported twice, by an update and by a service message; both produce the same id, so it counts once.
"""

from typing import Any

from parlour_sdk.protocol.people import Group, GroupMember, User
from parlour_sdk.protocol.platform_events import (
    BotInvited,
    BotMuted,
    BotRemoved,
    BotUnmuted,
    MemberBanned,
    MemberJoined,
    MemberLeft,
    MemberUnbanned,
    PlatformEvent,
    PlatformSpecific,
)
from parlour_sdk.values import dataclass

from . import users
from .users import BotAccount
from .values import NAME, Payload, identifier, number, object_in, time_milliseconds


@dataclass(frozen=True, slots=True)
class MemberChange:
    """A change of one member, with the state before and after it."""

    chat: Payload
    actor: Payload
    old: Payload
    new: Payload
    when: int
    bot_id: str

    @property
    def person(self) -> User:
        return users.user(self.new["user"])

    def fields(self, what: str) -> dict[str, Any]:
        name = f"{what}:{identifier(self.chat['id'])}:{self.person.id}:{self.when}"
        return {"event_id": name, "timestamp": self.when, "bot_id": self.bot_id, "adapter_name": NAME}

    @property
    def group(self) -> Group:
        return users.group(self.chat)

    @property
    def member(self) -> GroupMember:
        return users.member(self.new, self.group.id)

    @property
    def operator(self) -> User | None:
        """The user who made the change, if it was another one than the member."""
        by = users.user(self.actor) if self.actor else None
        return by if by is not None and by.id != self.person.id else None

    @property
    def duration(self) -> int | None:
        until = number(self.new.get("until_date"))
        return max(0, until - self.when // 1000) if until else None


def events_from_update(told: Payload, bot_id: str, me: BotAccount) -> list[PlatformEvent]:
    """Converts a `chat_member` or `my_chat_member` update."""
    old, new = told["old_chat_member"], told["new_chat_member"]
    change = MemberChange(told["chat"], object_in(told, "from"), old, new, time_milliseconds(told), bot_id)
    if users.chat_type(change.chat) == "private":
        return [_private(change)]
    return _of_bot(change) if change.person.id == me.id else _of_member(change, object_in(told, "invite_link"))


def _private(change: MemberChange) -> PlatformEvent:
    """Builds the event of a user who blocked the bot or unblocked it."""
    action = "bot_blocked" if change.new.get("status") == "kicked" else "bot_unblocked"
    by = users.user(change.actor)
    data = {"chat_type": "private", "chat_id": identifier(change.chat["id"]), "user": by.model_dump(exclude_none=True)}
    return PlatformSpecific(type=f"platform.{NAME}.{action}", action=action, data=data, **change.fields(action))


def _of_bot(change: MemberChange) -> list[PlatformEvent]:
    was, is_now = users.is_member(change.old), users.is_member(change.new)
    about: dict[str, Any] = {"group": change.group}
    if is_now and not was:
        return [BotInvited(**about, inviter=change.operator, **change.fields("bot joined"))]
    if was and not is_now:
        return [BotRemoved(**about, operator=change.operator, **change.fields("bot left"))]
    about |= {"operator": change.operator}
    if users.is_muted(change.new) and not users.is_muted(change.old):
        return [BotMuted(**about, duration=change.duration, **change.fields("bot muted"))]
    if users.is_muted(change.old) and not users.is_muted(change.new):
        return [BotUnmuted(**about, **change.fields("bot unmuted"))]
    return [_role(change)]


def _of_member(change: MemberChange, invitation: Payload) -> list[PlatformEvent]:
    about: dict[str, Any] = {"group": change.group, "member": change.member}
    was, is_now = users.is_member(change.old), users.is_member(change.new)
    by: dict[str, Any] = {"operator": change.operator}
    if change.new.get("status") == "kicked":
        return [MemberBanned(**about, **by, duration=change.duration, **change.fields("banned"))]
    if is_now and not was:
        return [member_joined(change, requested=bool(invitation.get("creates_join_request")))]
    if change.old.get("status") == "kicked":
        return [MemberUnbanned(**about, **by, **change.fields("unbanned"))]
    if was and not is_now:
        return [member_left(change)]
    if users.is_muted(change.new) and not users.is_muted(change.old):
        return [MemberBanned(**about, **by, duration=change.duration, **change.fields("banned"))]
    if users.is_muted(change.old) and not users.is_muted(change.new):
        return [MemberUnbanned(**about, **by, **change.fields("unbanned"))]
    return [_role(change)]


def member_joined(change: MemberChange, requested: bool = False) -> MemberJoined:
    inviter = change.operator
    return MemberJoined(
        group=change.group,
        member=change.member,
        inviter=inviter,
        join_type="invite" if inviter else "request" if requested else "direct",
        **change.fields("joined"),
    )


def member_left(change: MemberChange) -> MemberLeft:
    by = change.operator
    return MemberLeft(
        group=change.group, member=change.member, is_kicked=by is not None, operator=by, **change.fields("left")
    )


def _role(change: MemberChange) -> PlatformSpecific:
    """Builds the event of a member whose rights have changed."""
    data = {
        "chat_type": "group",
        "chat_id": change.group.id,
        "member": change.member.model_dump(exclude_none=True),
        "old_status": str(change.old.get("status")),
        "new_status": str(change.new.get("status")),
    }
    action = "member_changed"
    return PlatformSpecific(type=f"platform.{NAME}.{action}", action=action, data=data, **change.fields(action))


def events_from_service_message(message: Payload, bot_id: str, me: BotAccount) -> list[PlatformEvent]:
    """Converts `new_chat_members` or `left_chat_member`, which also reach bots that are no administrators."""
    actor, when, chat = object_in(message, "from"), time_milliseconds(message), message["chat"]
    gone = message.get("left_chat_member")
    came = message.get("new_chat_members") or []
    old = {"status": "member" if gone else "left"}
    new = {"status": "left" if gone else "member"}
    told = [gone] if gone else came
    changes = [
        MemberChange(chat, actor, {**old, "user": each}, {**new, "user": each}, when, bot_id)
        for each in told
        if identifier(each["id"]) != me.id  # changes of the bot itself are reported by an update
    ]
    return [member_left(change) if gone else member_joined(change) for change in changes]
