"""Converts the content of a message event into components of a chain.

Data that has to be fetched is already in `found`.
"""

from typing import Any

from parlour_sdk.protocol.chain import File, Image, MessageChain, Plain, Platform, Quote, Unknown, Video, Voice
from parlour_sdk.values import dataclass

from . import mentions
from .values import NAME, Payload, mapping, number, required, text

MEDIA: dict[str, type[Image] | type[Voice] | type[Video] | type[File]] = {
    "m.image": Image,
    "m.audio": Voice,
    "m.video": Video,
    "m.file": File,
}
TEXTS = ("m.text", "m.notice", "m.emote")
STICKER = "m.sticker"


@dataclass(frozen=True, slots=True)
class MessageReferences:
    """Data that a message only refers to, as far as it could be fetched."""

    quoted: Payload | None = None
    """The event that the message replies to."""
    base64: str = ""
    problem: str = ""
    """Reason why the file of the message is missing."""


NO_REFERENCES = MessageReferences()


def decode_chain(event: Payload, own: str, found: MessageReferences = NO_REFERENCES) -> MessageChain:
    """Converts a message event into a chain. Raises ValueError if the event can't be read."""
    content = latest_content(event)
    quote = _quote(event, own, found)
    if event.get("type") == STICKER:
        return [*quote, *_media(Image, content, found)]
    kind = required(content, "msgtype")
    if kind in MEDIA:
        return [*quote, *_media(MEDIA[kind], content, found), *_caption(content, own)]
    if kind not in TEXTS:
        return [*quote, _own_kind(kind, content)]
    body = required(content, "body") if "body" in content and content["body"] != "" else ""
    body = _without_fallback(body) if reply_target_id(event) else body
    said = mentions.components(f"* {body}" if kind == "m.emote" else body, content, own)
    return [*quote, *said] or [Plain(text="")]


def latest_content(event: Payload) -> Payload:
    """Returns the content after the last edit, if the homeserver includes that edit."""
    content = mapping(event.get("content"))
    latest = mapping(mapping(mapping(event.get("unsigned")).get("m.relations")).get("m.replace"))
    edited = mapping(mapping(latest.get("content")).get("m.new_content"))
    return edited or content


def relation(event: Payload) -> Payload:
    return mapping(mapping(event.get("content")).get("m.relates_to"))


def is_edit(event: Payload) -> bool:
    return relation(event).get("rel_type") == "m.replace"


def thread_id(event: Payload) -> str:
    told = relation(event)
    return text(told, "event_id") if told.get("rel_type") == "m.thread" else ""


def reply_target_id(event: Payload) -> str:
    """Returns the id of the message that this one replies to.

    In a thread, a message may name one that the user did not choose, as a fallback for old clients; it is ignored.
    """
    told = relation(event)
    if told.get("rel_type") == "m.thread" and told.get("is_falling_back") is True:
        return ""
    return text(mapping(told.get("m.in_reply_to")), "event_id")


def _quote(event: Payload, own: str, found: MessageReferences) -> list[Quote]:
    quoted_id = reply_target_id(event)
    if not quoted_id:
        return []
    if found.quoted is None:
        return [Quote(id=quoted_id)]
    try:
        origin: MessageChain = [each for each in decode_chain(found.quoted, own) if not isinstance(each, Quote)]
    except ValueError:
        origin = []
    return [Quote(id=quoted_id, sender=text(found.quoted, "sender") or None, origin=origin)]


def _media(
    kind: type[Image] | type[Voice] | type[Video] | type[File], content: Payload, found: MessageReferences
) -> MessageChain:
    name, info = text(content, "filename") or text(content, "body"), mapping(content.get("info"))
    if not found.base64:
        label = f"{kind.__name__.lower()}: {name}" if name else kind.__name__.lower()
        return [Unknown(text=f"[{label}{f', {found.problem}' if found.problem else ''}]")]
    about: dict[str, Any] = {"name": name or None, "size": number(info.get("size"))}
    return [kind(base64=found.base64, mime_type=text(info, "mimetype") or None, **about)]


def _caption(content: Payload, own: str) -> MessageChain:
    body = text(content, "body")
    captioned = bool(text(content, "filename")) and bool(body) and body != content["filename"]
    return mentions.components(body, content, own) if captioned else []


def _own_kind(kind: str, content: Payload) -> Platform:
    """Builds a component for a kind of message that only Matrix has, such as a location, with its body as text."""
    facts = "; ".join(filter(None, (text(content, "body"), text(content, "geo_uri"))))
    label = kind.removeprefix("m.")
    said = f"[{label}: {facts}]" if facts else f"[{label}]"
    return Platform(platform=NAME, component_type=kind, data=_without_relation(content), text=said)


def _without_relation(content: Payload) -> Payload:
    return {name: value for name, value in content.items() if name not in ("m.relates_to", "msgtype")}


def _without_fallback(body: str) -> str:
    """Removes the copy of the answered message that older clients put above the reply."""
    if not body.startswith("> <"):
        return body
    lines = body.split("\n")
    own = next((number for number, line in enumerate(lines) if not line.startswith(">")), len(lines))
    return "\n".join(lines[own:]).removeprefix("\n")
