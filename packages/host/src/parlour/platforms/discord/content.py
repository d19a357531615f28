"""Converts the content of a Discord message into components of a chain, in the order in which Discord shows it."""

import re
from typing import Any

from parlour.platforms._kit.payloads import UNREADABLE, Payload, identifier, number, object_in, objects_in, text
from parlour_sdk.protocol.chain import (
    At,
    AtAll,
    Component,
    Face,
    File,
    Forward,
    ForwardNode,
    Image,
    MessageChain,
    Plain,
    Platform,
    Quote,
    Unknown,
    Video,
    Voice,
)
from parlour_sdk.protocol.limits import NESTED_QUOTES

from .entities import NAME, DiscordAccount, message_id, time_milliseconds
from .guilds import DiscordGuilds

FORWARD = 1
"""Type of a message reference that hands a message on, instead of answering it."""
VOICE_MESSAGE_FLAG = 1 << 13
MAX_FACT_CHARACTERS = 500
_TOKEN = re.compile(
    r"<@!?(?P<user>\d+)>|<@&(?P<role>\d+)>|<#(?P<channel>\d+)>|<(?P<face>a?:\w+:\d+)>|(?P<all>@everyone|@here)"
)
_MEDIA: dict[str, type[Image] | type[Video] | type[Voice] | type[File]] = {
    "image": Image,
    "video": Video,
    "audio": Voice,
}


class DiscordContentReader:
    """Reads the contents of messages of one bot."""

    def __init__(self, me: DiscordAccount, guilds: DiscordGuilds) -> None:
        self._me = me
        self._guilds = guilds

    def chain(self, message: Payload, depth: int = 0) -> MessageChain:
        """Converts a message. Never fails: an unreadable message becomes Unknown."""
        try:
            chain = [*self._reference(message, depth), *self._own_content(message)]
        except UNREADABLE:
            return [Unknown(text="[a message that can't be read]")]
        if all(isinstance(each, Quote) for each in chain):
            chain.append(Unknown(text="[a message without anything that can be shown]"))
        return chain

    def _own_content(self, message: Payload) -> MessageChain:
        return [
            *self.text_components(message),
            *(_attachment(each, message) for each in objects_in(message, "attachments")),
            *(_embed(each) for each in objects_in(message, "embeds") if each.get("type") == "rich"),
            *(_sticker(each) for each in objects_in(message, "sticker_items")),
            *([_poll(message["poll"])] if isinstance(message.get("poll"), dict) else ()),
        ]

    def text_components(self, message: Payload) -> MessageChain:
        """Splits the text of a message into plain parts, mentions and custom emojis."""
        content = message.get("content")
        if content is None:
            return []
        if not isinstance(content, str):
            return [Unknown(text="[text that can't be read]")]
        names = {text(each, "id"): _shown_name(each) for each in objects_in(message, "mentions")}
        chain: list[Component] = []
        position = 0
        for match in _TOKEN.finditer(content):
            component = self._token(match, message, names)
            _add(chain, Plain(text=content[position : match.start()]))
            _add(chain, component)
            position = match.end()
        _add(chain, Plain(text=content[position:]))
        return chain

    def _token(self, match: re.Match[str], message: Payload, names: dict[str, str]) -> Component:
        guild_id = text(message, "guild_id")
        match match.lastgroup:
            case "user":
                return At(target=match["user"], display=names.get(match["user"]) or None)
            case "role" if self._guilds.is_role_of_bot(guild_id, match["role"], self._me.id):
                return At(target=self._me.id, display=self._guilds.role_name(guild_id, match["role"]) or None)
            case "role":
                return Plain(text=f"@{self._guilds.role_name(guild_id, match['role']) or 'role'}")
            case "channel":
                channel = self._guilds.channel(match["channel"]) or {}
                return Plain(text=f"#{text(channel, 'name') or match['channel']}")
            case "face":
                return Face(id=match["face"].removeprefix(":"), name=match["face"].split(":")[1])
            case "all" if message.get("mention_everyone") is True:
                return AtAll()
        return Plain(text=match[0])

    def _reference(self, message: Payload, depth: int) -> MessageChain:
        reference = object_in(message, "message_reference")
        if not reference or depth >= NESTED_QUOTES - 1:
            return []
        if reference.get("type") == FORWARD:
            snapshots = [object_in(each, "message") for each in objects_in(message, "message_snapshots")]
            nodes = [self._forwarded(each, reference, depth) for each in snapshots]
            return [Forward(nodes=nodes)] if nodes else []
        if not text(reference, "message_id"):
            return []
        quoted = object_in(message, "referenced_message")
        author = object_in(quoted, "author")
        return [
            Quote(
                id=self.message_id(identifier(reference.get("channel_id")), text(reference, "message_id")),
                sender=text(author, "id") or None,
                name=_shown_name(author) or None,
                origin=self.chain(quoted, depth + 1) if quoted else [],
            )
        ]

    def message_id(self, channel_id: str, native_id: str) -> str:
        """Returns the id of a message in this channel or thread."""
        return message_id(channel_id, native_id, self._guilds.place(channel_id)[1])

    def _forwarded(self, snapshot: Payload, reference: Payload, depth: int) -> ForwardNode:
        sent_at = snapshot.get("timestamp")
        return ForwardNode(
            time=time_milliseconds(sent_at) if isinstance(sent_at, str) else None,
            message_id=text(reference, "message_id") or None,
            chain=self.chain(snapshot, depth + 1),
        )


def mentions_bot(message: Payload, me: DiscordAccount) -> bool:
    """Returns whether a message mentions the bot; the answer to one of its messages does so by itself."""
    if any(each.get("id") == me.id for each in objects_in(message, "mentions")):
        return True
    return object_in(object_in(message, "referenced_message"), "author").get("id") == me.id


def emoji_name(emoji: Payload) -> str:
    """Returns an emoji as reactions name it: the character itself, or name and id of a server's own."""
    name = identifier(emoji.get("name")) if emoji.get("name") is not None else "_"
    return f"{name}:{identifier(emoji['id'])}" if emoji.get("id") else name


def _shown_name(person: Payload) -> str:
    return text(object_in(person, "member"), "nick") or text(person, "global_name") or text(person, "username")


def _add(chain: list[Component], component: Component) -> None:
    """Adds a component; adjacent texts become one."""
    if isinstance(component, Plain) and chain and isinstance(chain[-1], Plain):
        chain[-1] = Plain(text=chain[-1].text + component.text)
    elif not isinstance(component, Plain) or component.text:
        chain.append(component)


def _attachment(attachment: Payload, message: Payload) -> Component:
    url, name = text(attachment, "url"), text(attachment, "filename")
    if not url:
        return Unknown(text=f"[{name or 'a file'} without an address]")
    content_type = text(attachment, "content_type").partition(";")[0]
    details: dict[str, Any] = {
        "url": url,
        "name": name or None,
        "size": number(attachment.get("size")),
        "mime_type": content_type or None,
    }
    kind = _MEDIA.get(content_type.partition("/")[0], File)
    is_voice = (number(message.get("flags")) or 0) & VOICE_MESSAGE_FLAG
    if is_voice or kind in (Voice, Video):
        seconds = attachment.get("duration_secs")
        details["duration"] = seconds if isinstance(seconds, int | float) and not isinstance(seconds, bool) else None
        return Voice(**details) if is_voice or kind is Voice else Video(**details)
    return kind(**details)


def _embed(embed: Payload) -> Component:
    parts = [text(embed, name) for name in ("title", "description", "url")]
    parts += [f"{text(each, 'name')}: {text(each, 'value')}" for each in objects_in(embed, "fields")]
    data = {name: value for name, value in embed.items() if name != "type"}
    return _platform("embed", data, "; ".join(filter(None, parts)))


def _sticker(sticker: Payload) -> Component:
    data = {"id": identifier(sticker.get("id")), "name": text(sticker, "name")}
    return _platform("sticker", data, data["name"])


def _poll(poll: Payload) -> Component:
    options = [text(object_in(each, "poll_media"), "text") for each in objects_in(poll, "answers")]
    question = text(object_in(poll, "question"), "text")
    return _platform("poll", poll, f"{question}; options: {' / '.join(options)}")


def _platform(kind: str, data: Payload, facts: str) -> Platform:
    return Platform(platform=NAME, component_type=kind, data=data, text=f"[{kind}: {facts[:MAX_FACT_CHARACTERS]}]")
