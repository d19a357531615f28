"""Converts what LINE reports into common events. Pure: what has to be looked up is already in it.

An event that can't be read becomes `platform.line.malformed`, so that it is visible and does not affect others.
"""

from time import time
from typing import Any

from parlour.core.model.reply_allowance import ReplyAllowance
from parlour.core.platforms.port import IncomingEvent
from parlour.platforms._kit.buttons import parse_button_data
from parlour.platforms._kit.payloads import (
    UNREADABLE,
    Payload,
    content_id,
    identifier,
    malformed_event,
    object_in,
    objects_in,
    text,
)
from parlour_sdk.protocol.chain import Source
from parlour_sdk.protocol.people import Group, GroupMember, User
from parlour_sdk.protocol.platform_events import (
    BotInvited,
    BotRemoved,
    FriendAdded,
    FriendRemoved,
    InteractionReceived,
    MemberJoined,
    MemberLeft,
    MessageDeleted,
    MessageReceived,
    PlatformSpecific,
)
from parlour_sdk.values import dataclass

from . import entities
from .content import CONTENT, decode_chain, mentions_bot
from .entities import BUTTONS_PREFIX, NAME, LineSource

PROFILES_KEY, GROUP_KEY = "known_profiles", "known_group"
"""Keys under which profiles by user and the group of an event are added to it."""
REPLY_SECONDS = 50
"""Seconds in which a reply token is used; LINE accepts it for one minute."""
REPLY_REASON = "LINE accepts one reply within a minute"
SECRETS = ("replyToken", "markAsReadToken")


@dataclass(frozen=True, slots=True)
class LineDecodeContext:
    """The bot whose events are decoded."""

    bot_id: str
    own_id: str = ""

    def fields(self, event_id: str, timestamp: Any) -> dict[str, Any]:
        if isinstance(timestamp, bool) or not isinstance(timestamp, int) or not 0 <= timestamp < 2**53:
            raise ValueError("a time is a number of milliseconds")
        return {"event_id": event_id, "timestamp": timestamp, "bot_id": self.bot_id, "adapter_name": NAME}


def decode(event: Any, context: LineDecodeContext) -> list[IncomingEvent]:
    """Decodes an event of a call; one about several members becomes several events."""
    try:
        incoming = _incoming(event, context)
    except UNREADABLE as error:
        malformed = malformed_event(NAME, context.bot_id, _public(event), type(error).__name__)
        incoming = [IncomingEvent(malformed)]
    payload = event if isinstance(event, dict) else {}
    return [
        IncomingEvent(
            each.event.carrying(event),
            self_id=context.own_id,
            addresses_bot=each.addresses_bot,
            native_type=str(payload.get("type"))[:120],
            reply_allowance=each.reply_allowance,
        )
        for each in incoming
    ]


def _incoming(event: Payload, context: LineDecodeContext) -> list[IncomingEvent]:
    event_id = text(event, "webhookEventId") or content_id(_stable(event))
    fields = context.fields(event_id, event.get("timestamp"))
    kind = identifier(event.get("type"))
    if event.get("mode") == "standby":
        return [IncomingEvent(_specific("standby", event, fields, _place(event)))]
    allowance = _allowance(text(event, "replyToken"))
    if not object_in(event, "source"):
        return [IncomingEvent(_specific(kind, event, fields, None))]
    source = entities.source(event["source"])
    chat = _chat(source, event)
    actor = _user(source.user_id, event)
    match kind:
        case "message":
            message = event["message"]
            message_id = identifier(message.get("id"))
            received = MessageReceived(
                **fields,
                **chat,
                message_id=message_id,
                message_chain=[Source(id=message_id, time=fields["timestamp"]), *decode_chain(message)],
                sender=actor,
            )
            addressed = mentions_bot(message, context.own_id)
            return [IncomingEvent(received, addresses_bot=addressed, reply_allowance=allowance)]
        case "unsend":
            message_id = identifier(event["unsend"].get("messageId"))
            return [IncomingEvent(MessageDeleted(**fields, **chat, message_id=message_id, operator=actor))]
        case "follow":
            return [IncomingEvent(FriendAdded(**fields, user=actor), reply_allowance=allowance)]
        case "unfollow":
            return [IncomingEvent(FriendRemoved(**fields, user=actor))]
        case "join":
            return [IncomingEvent(BotInvited(**fields, group=chat["group"]), reply_allowance=allowance)]
        case "leave":
            return [IncomingEvent(BotRemoved(**fields, group=chat["group"]))]
        case "memberJoined" | "memberLeft":
            return _members(event, fields, chat["group"], allowance)
        case "postback":
            return [IncomingEvent(_interaction(event, fields, chat, actor), reply_allowance=allowance)]
    return [IncomingEvent(_specific(kind, event, fields, source), reply_allowance=allowance)]


def _chat(source: LineSource, event: Payload) -> dict[str, Any]:
    """Returns the chat of an event, with the name of the group if it was looked up."""
    known = object_in(event, GROUP_KEY)
    if source.chat_type == "group" and known:
        group = Group(id=source.chat_id, name=text(known, "groupName"), avatar_url=text(known, "pictureUrl") or None)
        return {**source.chat, "group": group}
    return source.chat


def _user(user_id: str, event: Payload) -> User:
    return entities.user(user_id, object_in(object_in(event, PROFILES_KEY), user_id))


def _allowance(reply_token: str) -> ReplyAllowance | None:
    """Returns the one reply that LINE allows. A token is accepted once, so that a repeated reply is shown once."""
    if not reply_token:
        return None
    until = round((time() + REPLY_SECONDS) * 1000)
    return ReplyAllowance(handle=reply_token, count=1, until=until, then="push", repeatable=True, reason=REPLY_REASON)


def _members(
    event: Payload, fields: dict[str, Any], group: Group, allowance: ReplyAllowance | None
) -> list[IncomingEvent]:
    """Returns an event for each member. The only reply belongs to the first one."""
    is_join = event["type"] == "memberJoined"
    changed = objects_in(object_in(event, "joined" if is_join else "left"), "members")
    incoming: list[IncomingEvent] = []
    for each in changed:
        user = _user(identifier(each.get("userId")), event)
        member = GroupMember(user=user, group_id=group.id)
        own = {**fields, "event_id": f"{fields['event_id']}:{user.id}"}
        joined_or_left = (MemberJoined if is_join else MemberLeft)(**own, group=group, member=member)
        incoming.append(IncomingEvent(joined_or_left, reply_allowance=None if incoming else allowance))
    return incoming


def _interaction(event: Payload, fields: dict[str, Any], chat: dict[str, Any], user: User) -> InteractionReceived:
    """Decodes a pressed button; a picker of dates returns what was chosen as the value."""
    postback = event["postback"]
    data = identifier(postback.get("data"))
    buttons_id, _, own_data = data.partition("\n")
    is_own = buttons_id.startswith(BUTTONS_PREFIX)
    action_id, value = parse_button_data(own_data if is_own else data)
    chosen = object_in(postback, "params")
    return InteractionReceived(
        **fields,
        **chat,
        interaction_id=fields["event_id"],
        user=user,
        action_id=action_id,
        value=chosen if chosen and value is None else value,
        message_id=buttons_id if is_own else None,
    )


def _place(event: Payload) -> LineSource | None:
    try:
        return entities.source(object_in(event, "source"))
    except UNREADABLE:
        return None


def _specific(action: str, event: Payload, fields: dict[str, Any], source: LineSource | None) -> PlatformSpecific:
    data: dict[str, Any] = {"payload": _public(event)}
    if source is not None:
        data |= {"chat_type": source.chat_type, "chat_id": source.chat_id}
        data |= {"user_id": source.user_id} if source.user_id else {}
    return PlatformSpecific(type=f"platform.{NAME}.{action}", action=action, data=data, **fields)


def _public(event: Any) -> Any:
    """Returns an event without what would let anyone answer it, and without what was added."""
    if not isinstance(event, dict):
        return event
    hidden = (*SECRETS, PROFILES_KEY, GROUP_KEY)
    kept = {name: value for name, value in event.items() if name not in hidden}
    message = kept.get("message")
    if isinstance(message, dict):
        kept["message"] = {name: value for name, value in message.items() if name not in (*SECRETS, CONTENT)}
    return kept


def _stable(event: Payload) -> Any:
    """Returns the part of an event that is the same when it is delivered again."""
    return {name: value for name, value in _public(event).items() if name != "deliveryContext"}
