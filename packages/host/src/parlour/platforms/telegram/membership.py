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

from . import entities
from .entities import NAME, BotAccount, Payload, identifier, number, object_in, time_milliseconds


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
        return entities.user(self.new["user"])

    def fields(self, event_name: str) -> dict[str, Any]:
        name = f"{event_name}:{identifier(self.chat['id'])}:{self.person.id}:{self.when}"
        return {"event_id": name, "timestamp": self.when, "bot_id": self.bot_id, "adapter_name": NAME}

    @property
    def group(self) -> Group:
        return entities.group(self.chat)

    @property
    def member(self) -> GroupMember:
        return entities.member(self.new, self.group.id)

    @property
    def operator(self) -> User | None:
        """The user who made the change, if it was another one than the member."""
        user = entities.user(self.actor) if self.actor else None
        return user if user is not None and user.id != self.person.id else None

    @property
    def duration(self) -> int | None:
        until_date = number(self.new.get("until_date"))
        return max(0, until_date - self.when // 1000) if until_date else None


def events_from_update(update: Payload, bot_id: str, account: BotAccount) -> list[PlatformEvent]:
    """Converts a `chat_member` or `my_chat_member` update."""
    old_member, new_member = update["old_chat_member"], update["new_chat_member"]
    change = MemberChange(
        update["chat"], object_in(update, "from"), old_member, new_member, time_milliseconds(update), bot_id
    )
    if entities.chat_type(change.chat) == "private":
        return [_private(change)]
    return _of_bot(change) if change.person.id == account.id else _of_member(change, object_in(update, "invite_link"))


def _private(change: MemberChange) -> PlatformEvent:
    """Builds the event of a user who blocked the bot or unblocked it."""
    action = "bot_blocked" if change.new.get("status") == "kicked" else "bot_unblocked"
    user = entities.user(change.actor)
    data = {
        "chat_type": "private",
        "chat_id": identifier(change.chat["id"]),
        "user": user.model_dump(exclude_none=True),
    }
    return PlatformSpecific(type=f"platform.{NAME}.{action}", action=action, data=data, **change.fields(action))


def _of_bot(change: MemberChange) -> list[PlatformEvent]:
    was, is_now = entities.is_member(change.old), entities.is_member(change.new)
    fields: dict[str, Any] = {"group": change.group}
    if is_now and not was:
        return [BotInvited(**fields, inviter=change.operator, **change.fields("bot joined"))]
    if was and not is_now:
        return [BotRemoved(**fields, operator=change.operator, **change.fields("bot left"))]
    fields |= {"operator": change.operator}
    if entities.is_muted(change.new) and not entities.is_muted(change.old):
        return [BotMuted(**fields, duration=change.duration, **change.fields("bot muted"))]
    if entities.is_muted(change.old) and not entities.is_muted(change.new):
        return [BotUnmuted(**fields, **change.fields("bot unmuted"))]
    return [_role(change)]


def _of_member(change: MemberChange, invitation: Payload) -> list[PlatformEvent]:
    fields: dict[str, Any] = {"group": change.group, "member": change.member}
    was, is_now = entities.is_member(change.old), entities.is_member(change.new)
    operator_fields: dict[str, Any] = {"operator": change.operator}
    if change.new.get("status") == "kicked":
        return [MemberBanned(**fields, **operator_fields, duration=change.duration, **change.fields("banned"))]
    if is_now and not was:
        return [member_joined(change, requested=bool(invitation.get("creates_join_request")))]
    if change.old.get("status") == "kicked":
        return [MemberUnbanned(**fields, **operator_fields, **change.fields("unbanned"))]
    if was and not is_now:
        return [member_left(change)]
    if entities.is_muted(change.new) and not entities.is_muted(change.old):
        return [MemberBanned(**fields, **operator_fields, duration=change.duration, **change.fields("banned"))]
    if entities.is_muted(change.old) and not entities.is_muted(change.new):
        return [MemberUnbanned(**fields, **operator_fields, **change.fields("unbanned"))]
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
    operator = change.operator
    return MemberLeft(
        group=change.group,
        member=change.member,
        is_kicked=operator is not None,
        operator=operator,
        **change.fields("left"),
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


def events_from_service_message(message: Payload, bot_id: str, account: BotAccount) -> list[PlatformEvent]:
    """Converts `new_chat_members` or `left_chat_member`, which also reach bots that are no administrators."""
    actor, timestamp, chat = object_in(message, "from"), time_milliseconds(message), message["chat"]
    left_member = message.get("left_chat_member")
    new_members = message.get("new_chat_members") or []
    old_status = {"status": "member" if left_member else "left"}
    new_status = {"status": "left" if left_member else "member"}
    members = [left_member] if left_member else new_members
    changes = [
        MemberChange(chat, actor, {**old_status, "user": each}, {**new_status, "user": each}, timestamp, bot_id)
        for each in members
        if identifier(each["id"]) != account.id  # changes of the bot itself are reported by an update
    ]
    return [member_left(change) if left_member else member_joined(change) for change in changes]
