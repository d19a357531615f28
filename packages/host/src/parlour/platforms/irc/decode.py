"""Converts lines of the server into common events, with what is known about channels and users before the line."""

import re
from time import time
from typing import Any

from parlour.core.platforms.port import IncomingEvent
from parlour.platforms._kit.payloads import content_id
from parlour_sdk.protocol.chain import At, Component, MessageChain, Plain, Platform, Quote, Source, Unknown
from parlour_sdk.protocol.people import Group, GroupMember, User
from parlour_sdk.protocol.platform_events import (
    BotInvited,
    BotRemoved,
    GroupInfoUpdated,
    MemberBanned,
    MemberJoined,
    MemberLeft,
    MemberUnbanned,
    MessageReaction,
    MessageReceived,
    PlatformSpecific,
)

from .lines import IrcLine, line_time, without_formatting
from .server_state import IrcUser, ServerState
from .settings import NAME

REPLY_TAGS = ("+reply", "+draft/reply")
REACT_TAGS = ("+react", "+draft/react")
CTCP = "\x01"
PARAMETERS = {
    "PRIVMSG": 2, "NOTICE": 2, "TAGMSG": 1, "JOIN": 1, "PART": 1, "KICK": 2, "TOPIC": 2, "INVITE": 2, "MODE": 2,
}  # fmt: skip
"""Number of parameters without which a line means nothing."""


class IrcDecoder:
    """Decodes the lines of one connection."""

    def __init__(self, bot_id: str, state: ServerState) -> None:
        self._bot_id = bot_id
        self._state = state

    def decode(self, line: IrcLine) -> list[IncomingEvent]:
        """Returns the events of a line; empty for what concerns no user. Call it before the line changes the state."""
        state = self._state
        if not line.source:
            return []
        if len(line.params) < PARAMETERS.get(line.command, 0):
            raise ValueError("a line has too few parameters")
        match line.command:
            case "PRIVMSG" | "NOTICE" | "TAGMSG" if line.mask != ("", ""):
                return self._from_user(line)
            case "JOIN" if not state.is_own(line.nick):
                return [self._of_group(MemberJoined, line, line.param(0), line.nick)]
            case "PART" if not state.is_own(line.nick):
                return [self._of_group(MemberLeft, line, line.param(0), line.nick)]
            case "QUIT" if not state.is_own(line.nick):
                shared = state.shared_channels(line.nick)
                return [self._of_group(MemberLeft, line, channel.name, line.nick) for channel in shared]
            case "KICK":
                return [self._kick(line)]
            case "TOPIC":
                return [self._topic(line)]
            case "INVITE" if state.is_own(line.param(0)):
                return [self._invitation(line)]
            case "MODE" if state.is_channel(line.param(0)):
                return self._bans(line)
        return []

    # --- messages

    def _from_user(self, line: IrcLine) -> list[IncomingEvent]:
        if self._state.is_own(line.nick):
            return []
        target = line.param(0).lstrip("".join(self._state.member_modes()))
        sender = self._state.see(line)
        if self._state.is_channel(target):
            group = Group(id=self._state.fold(target), name=target)
            chat: dict[str, Any] = {"chat_type": "group", "chat_id": group.id, "group": group}
        elif self._state.is_own(target):
            chat = {"chat_type": "private", "chat_id": self._state.user_id(sender)}
        else:
            return []  # a message to everyone on the server
        fields = self._fields(line)
        if line.command == "TAGMSG":
            return self._reaction(line, fields, chat, sender)
        if line.command == "NOTICE":
            data = {
                **{name: each for name, each in chat.items() if name != "group"},
                "sender_id": self._state.user_id(sender),
            }
            data["text"] = without_formatting(line.last)
            return [self._incoming(_specific("notice", data, fields), line)]
        chain, is_answer = self._chain(line, is_group="group" in chat), False
        if not chain:
            return []
        received = MessageReceived(
            **fields,
            **chat,
            message_id=fields["event_id"],
            message_chain=[Source(id=fields["event_id"], time=fields["timestamp"]), *chain],
            sender=self._user(sender),
        )
        role = self._state.role(target, line.nick) if "group" in chat else ""
        return [self._incoming(received, line, role=role, addresses_bot=is_answer)]

    def _chain(self, line: IrcLine, is_group: bool) -> MessageChain:
        quoted = _first(line.tags, REPLY_TAGS)
        quote: MessageChain = [Quote(id=quoted)] if quoted else []
        text = line.last
        if text.startswith(CTCP):
            kind, _, content = text.strip(CTCP).partition(" ")
            match kind.upper():
                case "ACTION":
                    content = without_formatting(content)
                    shown = f"* {line.nick} {content}"
                    return [
                        *quote,
                        Platform(platform=NAME, component_type="action", data={"text": content}, text=shown),
                    ]
                case "DCC":
                    return [Unknown(text="[a file or a chat was offered by DCC, which is not accepted]")]
            return []
        text = without_formatting(text)
        return [*quote, *(self._with_mentions(text) if is_group else [Plain(text=text)])]

    def _with_mentions(self, text: str) -> MessageChain:
        """Splits a text at the bot's nick; in front of it, a colon or comma and a blank belong to the mention."""
        nick, chain = re.escape(self._state.nick), list[Component]()
        mention = At(target=self._state.fold(self._state.nick), display=self._state.nick)
        pattern = rf"(?<![\w\[\]\\`^{{|}}-])@?{nick}(?![\w\[\]\\`^{{|}}-])"
        position = 0
        for match in re.finditer(pattern, text, re.IGNORECASE):
            if match.start() > position:
                chain.append(Plain(text=text[position : match.start()]))
            chain.append(mention)
            position = match.end()
            if match.start() == 0 and (address := re.match(r"[:,]\s*", text[position:])):
                position += address.end()
        if position < len(text):
            chain.append(Plain(text=text[position:]))
        return chain or [Plain(text=text)]

    def _reaction(
        self, line: IrcLine, fields: dict[str, Any], chat: dict[str, Any], sender: IrcUser
    ) -> list[IncomingEvent]:
        reaction, message_id = _first(line.tags, REACT_TAGS), _first(line.tags, REPLY_TAGS)
        if not reaction or not message_id:
            return []
        event = MessageReaction(
            **fields, **chat, message_id=message_id, user=self._user(sender), reaction=reaction, is_add=True
        )
        return [self._incoming(event, line)]

    # --- channels

    def _of_group(self, kind: Any, line: IrcLine, channel: str, nick: str, **more: Any) -> IncomingEvent:
        """Returns an event about a member of a channel."""
        group = Group(id=self._state.fold(channel), name=channel)
        fields = self._fields(line)
        fields["event_id"] = f"{fields['event_id']}:{group.id}"
        user = self._state.see(line) if nick == line.nick else self._state.users.get(self._state.fold(nick))
        member = GroupMember(
            user=self._user(user or IrcUser(nick)), group_id=group.id, role=self._state.role(channel, nick)
        )
        return self._incoming(kind(**fields, group=group, member=member, **more), line)

    def _kick(self, line: IrcLine) -> IncomingEvent:
        operator = self._user(self._state.see(line))
        if not self._state.is_own(line.param(1)):
            return self._of_group(MemberLeft, line, line.param(0), line.param(1), is_kicked=True, operator=operator)
        group = Group(id=self._state.fold(line.param(0)), name=line.param(0))
        return self._incoming(BotRemoved(**self._fields(line), group=group, operator=operator), line)

    def _topic(self, line: IrcLine) -> IncomingEvent:
        topic = without_formatting(line.last)
        group = Group(id=self._state.fold(line.param(0)), name=line.param(0), description=topic)
        operator = self._user(self._state.see(line))
        event = GroupInfoUpdated(**self._fields(line), group=group, operator=operator, changed_fields=["description"])
        return self._incoming(event, line)

    def _invitation(self, line: IrcLine) -> IncomingEvent:
        channel = line.param(1)
        group, inviter = Group(id=self._state.fold(channel), name=channel), self._user(self._state.see(line))
        return self._incoming(BotInvited(**self._fields(line), group=group, inviter=inviter, request_id=channel), line)

    def _bans(self, line: IrcLine) -> list[IncomingEvent]:
        """Returns an event for each mask that was banned or unbanned. Other changes of modes are no events."""
        group = Group(id=self._state.fold(line.param(0)), name=line.param(0))
        operator, found = self._user(self._state.see(line)), list[IncomingEvent]()
        for is_set, letter, mask in self._state.read_modes(line.params[1:]):
            if letter != "b" or not mask:
                continue
            member = GroupMember(user=User(id=mask, nickname=mask.partition("!")[0]), group_id=group.id)
            fields = self._fields(line)
            fields["event_id"] = f"{fields['event_id']}:{mask}"
            kind = MemberBanned if is_set else MemberUnbanned
            found.append(self._incoming(kind(**fields, group=group, member=member, operator=operator), line))
        return found

    # --- parts of events

    def _user(self, user: IrcUser) -> User:
        return User(id=self._state.user_id(user), nickname=user.nick, username=user.account or None, is_bot=user.is_bot)

    def _fields(self, line: IrcLine) -> dict[str, Any]:
        timestamp = line_time(line) or round(time() * 1000)
        event_id = line.tags.get("msgid") or content_id(timestamp, line.source, line.command, line.params)
        return {"event_id": event_id, "timestamp": timestamp, "bot_id": self._bot_id, "adapter_name": NAME}

    def _incoming(self, event: Any, line: IrcLine, role: str = "", addresses_bot: bool = False) -> IncomingEvent:
        return IncomingEvent(
            event.carrying(line.text),
            self_id=self._state.fold(self._state.nick),
            addresses_bot=addresses_bot,
            role=role,
            native_type=line.command,
        )


def _specific(action: str, data: dict[str, Any], fields: dict[str, Any]) -> PlatformSpecific:
    return PlatformSpecific(type=f"platform.{NAME}.{action}", action=action, data=data, **fields)


def _first(tags: dict[str, str], names: tuple[str, ...]) -> str:
    return next((tags[name] for name in names if tags.get(name)), "")
