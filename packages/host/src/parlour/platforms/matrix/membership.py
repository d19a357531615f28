"""Decodes state events of a room: members who join or leave, and changes of its name, topic and picture.

Other state is ignored.
"""

from typing import Any

from parlour_sdk.protocol.people import Group
from parlour_sdk.protocol.platform_events import (
    BotInvited,
    BotRemoved,
    GroupInfoUpdated,
    JoinType,
    MemberBanned,
    MemberJoined,
    MemberLeft,
    MemberUnbanned,
    PlatformEvent,
)

from .rooms import MatrixRoom, local_part, server_of
from .values import Payload, mapping, required, text

FIELDS = {"m.room.name": "name", "m.room.topic": "description", "m.room.avatar": "avatar_url"}
Common = dict[str, Any]


def decode_state_event(event: Payload, room: MatrixRoom, own: str, common: Common) -> PlatformEvent | None:
    if event["type"] == "m.room.member":
        return _member(event, room, own, common)
    field = FIELDS.get(event["type"])
    if field is None or event["sender"] == own:
        return None
    operator = room.user(event["sender"])
    return GroupInfoUpdated(**common, group=room.group, operator=operator, changed_fields=[field])


def _member(event: Payload, room: MatrixRoom, own: str, common: Common) -> PlatformEvent | None:
    who, now = required(event, "state_key"), required(mapping(event["content"]), "membership")
    before = text(mapping(mapping(event.get("unsigned")).get("prev_content")), "membership") or "leave"
    by_other = event["sender"] != who
    if who == own:
        return _own(event, room, common, now, by_other)
    about: dict[str, Any] = {**common, "group": room.group, "member": room.member(who)}
    operator = room.user(event["sender"]) if by_other else None
    match before, now:
        case (("leave" | "invite" | "knock"), "join"):
            return MemberJoined(**about, join_type=_join_type(before))
        case "join", "leave":
            return MemberLeft(**about, is_kicked=by_other, operator=operator)
        case before, "ban" if before != "ban":
            return MemberBanned(**about, operator=operator)
        case "ban", "leave":
            return MemberUnbanned(**about, operator=operator)
    return None


def _own(event: Payload, room: MatrixRoom, common: Common, now: str, by_other: bool) -> PlatformEvent | None:
    if now in ("leave", "ban") and by_other:
        return BotRemoved(**common, group=room.group, operator=room.user(event["sender"]))
    return None


def _join_type(before: str) -> JoinType:
    if before == "invite":
        return "invite"
    return "request" if before == "knock" else "direct"


def own_invites(state: list[Payload], own: str) -> list[Payload]:
    """Returns the membership events by which the bot is invited.

    The bot's homeserver adds the invitation that it verified to the stripped state, which the inviter's server wrote
    and can forge. So there may be several, of which one is genuine, at a position that no specification defines.
    """
    return [
        each
        for each in state
        if each.get("type") == "m.room.member"
        and each.get("state_key") == own
        and mapping(each.get("content")).get("membership") == "invite"
    ]


def genuine_invite(state: list[Payload], own: str) -> Payload:
    """Returns the invitation whose sender is checked: the one from another server if there are several."""
    invites = own_invites(state, own)
    strangers = [each for each in invites if server_of(text(each, "sender")) != server_of(own)]
    return (strangers or invites or [{}])[-1]


def invitation(invite: Payload, state: list[Payload], common: Common) -> BotInvited:
    """Builds the event of an invitation. `state` is the stripped state of a room that the bot has not joined."""
    room = MatrixRoom(invite["room_id"])
    for each in state:
        room.apply_state(each)
    inviter = room.user(required(invite, "sender"))
    named = room.group.name or inviter.nickname or local_part(inviter.id)
    group = Group(id=room.room_id, name=named, description=room.group.description)
    return BotInvited(**common, group=group, inviter=inviter, request_id=room.room_id)
