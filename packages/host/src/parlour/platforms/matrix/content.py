"""Converts the content of a message event into components of a chain, with the mentions in its text.

Data that has to be fetched is already in `references`. Mentions are pills of the formatted body, and ids in the text.
"""

import re
from collections.abc import Collection, Iterator
from html import unescape
from typing import Any
from urllib.parse import unquote

from parlour_sdk.protocol.chain import (
    At,
    AtAll,
    File,
    Image,
    MessageChain,
    Plain,
    Platform,
    Quote,
    Unknown,
    Video,
    Voice,
)
from parlour_sdk.values import dataclass

from .values import NAME, Payload, mapping, number, required, sequence, text

MEDIA: dict[str, type[Image] | type[Voice] | type[Video] | type[File]] = {
    "m.image": Image,
    "m.audio": Voice,
    "m.video": Video,
    "m.file": File,
}
TEXTS = ("m.text", "m.notice", "m.emote")
STICKER = "m.sticker"
LINK = "https://matrix.to/#/"
EVERYONE = "@room"
LONGEST_ID, LONGEST_LABEL = 300, 500
MAX_MENTIONS = 100
_TAG = re.compile(r"<[^<>]*>")
Mention = tuple[str, str]
"""A user's id and the label it is shown with."""


@dataclass(frozen=True, slots=True)
class MessageReferences:
    """Data that a message only refers to, as far as it could be fetched."""

    quoted: Payload | None = None
    """The event that the message replies to."""
    base64: str = ""
    problem: str = ""
    """Reason why the file of the message is missing."""


NO_REFERENCES = MessageReferences()


def decode_chain(event: Payload, own_id: str, references: MessageReferences = NO_REFERENCES) -> MessageChain:
    """Converts a message event into a chain. Raises ValueError if the event can't be read."""
    content = latest_content(event)
    quote = _quote(event, own_id, references)
    if event.get("type") == STICKER:
        return [*quote, *_media(Image, content, references)]
    kind = required(content, "msgtype")
    if kind in MEDIA:
        return [*quote, *_media(MEDIA[kind], content, references), *_caption(content, own_id)]
    if kind not in TEXTS:
        return [*quote, _own_kind(kind, content)]
    body = required(content, "body") if "body" in content and content["body"] != "" else ""
    body = _without_fallback(body) if reply_target_id(event) else body
    chain = components(f"* {body}" if kind == "m.emote" else body, content, own_id)
    return [*quote, *chain] or [Plain(text="")]


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
    related = relation(event)
    return text(related, "event_id") if related.get("rel_type") == "m.thread" else ""


def reply_target_id(event: Payload) -> str:
    """Returns the id of the message that this one replies to.

    In a thread, a message may name one that the user did not choose, as a fallback for old clients; it is ignored.
    """
    related = relation(event)
    if related.get("rel_type") == "m.thread" and related.get("is_falling_back") is True:
        return ""
    return text(mapping(related.get("m.in_reply_to")), "event_id")


def _quote(event: Payload, own_id: str, references: MessageReferences) -> list[Quote]:
    quoted_id = reply_target_id(event)
    if not quoted_id:
        return []
    if references.quoted is None:
        return [Quote(id=quoted_id)]
    try:
        origin: MessageChain = [each for each in decode_chain(references.quoted, own_id) if not isinstance(each, Quote)]
    except ValueError:
        origin = []
    return [Quote(id=quoted_id, sender=text(references.quoted, "sender") or None, origin=origin)]


def _media(
    kind: type[Image] | type[Voice] | type[Video] | type[File], content: Payload, references: MessageReferences
) -> MessageChain:
    name, info = text(content, "filename") or text(content, "body"), mapping(content.get("info"))
    if not references.base64:
        label = f"{kind.__name__.lower()}: {name}" if name else kind.__name__.lower()
        return [Unknown(text=f"[{label}{f', {references.problem}' if references.problem else ''}]")]
    file_fields: dict[str, Any] = {"name": name or None, "size": number(info.get("size"))}
    return [kind(base64=references.base64, mime_type=text(info, "mimetype") or None, **file_fields)]


def _caption(content: Payload, own_id: str) -> MessageChain:
    body = text(content, "body")
    captioned = bool(text(content, "filename")) and bool(body) and body != content["filename"]
    return components(body, content, own_id) if captioned else []


def _own_kind(kind: str, content: Payload) -> Platform:
    """Builds a component for a kind of message that only Matrix has, such as a location, with its body as text."""
    details = "; ".join(filter(None, (text(content, "body"), text(content, "geo_uri"))))
    label = kind.removeprefix("m.")
    label_text = f"[{label}: {details}]" if details else f"[{label}]"
    return Platform(platform=NAME, component_type=kind, data=_without_relation(content), text=label_text)


def _without_relation(content: Payload) -> Payload:
    return {name: value for name, value in content.items() if name not in ("m.relates_to", "msgtype")}


def _without_fallback(body: str) -> str:
    """Removes the copy of the answered message that older clients put above the reply."""
    if not body.startswith("> <"):
        return body
    lines = body.split("\n")
    first_line = next((number for number, line in enumerate(lines) if not line.startswith(">")), len(lines))
    return "\n".join(lines[first_line:]).removeprefix("\n")


def mentioned_ids(content: Payload) -> set[str]:
    """Returns the ids of the users whom the sender's client lists as mentioned."""
    user_ids = sequence(mapping(content.get("m.mentions")).get("user_ids"))
    return {each for each in user_ids[:MAX_MENTIONS] if isinstance(each, str) and each}


def components(body: str, content: Payload, own_id: str) -> MessageChain:
    """Splits a text into plain parts and mentions."""
    pills = list(_pills(content["formatted_body"])) if isinstance(content.get("formatted_body"), str) else []
    names = {own_id, *mentioned_ids(content)} - {""}
    everyone = mapping(content.get("m.mentions")).get("room") is True
    chain: MessageChain = []
    for part in _by_pills(body, pills):
        if isinstance(part, Plain):
            chain += _by_names(part.text, names, everyone)
        else:
            chain.append(part)
    return _without_colon(chain)


def _pills(formatted: str) -> Iterator[Mention]:
    """Yields links to users. They are searched without a pattern, which could take extremely long on hostile input."""
    start = 0
    for _ in range(MAX_MENTIONS):
        index = formatted.find(LINK, start)
        if index < 0:
            return
        start = index + len(LINK)
        address = re.match(r"[^\"'<>\s]*", formatted[start : start + LONGEST_ID])
        user_id = unquote(address[0]).partition("?")[0] if address else ""
        tag_end = formatted.find(">", start)
        closed = formatted.find("</a", tag_end)
        if user_id.startswith("@") and 0 <= tag_end < closed <= tag_end + LONGEST_LABEL:
            yield user_id, unescape(_TAG.sub("", formatted[tag_end + 1 : closed]))


def _by_pills(body: str, pills: list[Mention]) -> MessageChain:
    """Splits the body at the labels of pills: it has a pill's label where the formatted body has the pill."""
    chain: MessageChain = []
    start = 0
    for user_id, label in pills:
        index = body.find(label, start) if label else -1
        if index < 0:
            continue
        chain += [Plain(text=body[start:index])] if index > start else []
        chain.append(At(target=user_id, display=label.removeprefix("@")))
        start = index + len(label)
    return [*chain, Plain(text=body[start:])] if start < len(body) else chain


def _by_names(text: str, names: Collection[str], everyone: bool) -> Iterator[Plain | At | AtAll]:
    candidates = [*names, EVERYONE] if everyone else [*names]
    if not any(each in text for each in candidates):
        yield Plain(text=text)
        return
    for part in re.split(
        "(" + "|".join(re.escape(each) for each in sorted(candidates, key=len, reverse=True)) + ")", text
    ):
        if part == EVERYONE and everyone:
            yield AtAll()
        elif part in names:
            yield At(target=part)
        elif part:
            yield Plain(text=part)


def _without_colon(chain: MessageChain) -> MessageChain:
    """Removes the colon that clients write after a mention at the very start, as in `Name: `."""
    match chain:
        case [At() as first, Plain(text=text), *rest] if text.startswith(": "):
            return [first, Plain(text=text[1:]), *rest]
    return chain
