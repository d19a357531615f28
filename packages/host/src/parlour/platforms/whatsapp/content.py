"""Converts the content of a WhatsApp message into components of a chain. Files already have their content."""

import re
from typing import Any

from parlour.platforms._kit.payloads import UNREADABLE, Payload, number, object_in, objects_in, text
from parlour_sdk.protocol.chain import (
    At,
    Component,
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

from .entities import NAME

CONTENT, PROBLEM = "content_base64", "problem"
"""Keys that are added to a file: its content, or the reason why there is none."""
FILES = ("image", "video", "audio", "document", "sticker")
_KINDS: dict[str, type[Image] | type[Voice] | type[Video] | type[File]] = {
    "image": Image,
    "sticker": Image,
    "audio": Voice,
    "video": Video,
    "document": File,
}


def decode_chain(message: Payload, own_number: str) -> MessageChain:
    """Converts a message. Never fails: an unreadable message becomes Unknown."""
    try:
        return [*_quote(message), *_content(message, own_number)]
    except UNREADABLE:
        return [Unknown(text="[a message that can't be read]")]


def answers_bot(message: Payload, own_number: str) -> bool:
    """Returns whether a message quotes one of the bot."""
    return bool(own_number) and text(object_in(message, "context"), "from") == own_number


def _quote(message: Payload) -> MessageChain:
    context = object_in(message, "context")
    quoted = text(context, "id")
    return [Quote(id=quoted, sender=text(context, "from") or None)] if quoted else []


def _content(message: Payload, own_number: str) -> MessageChain:
    match message.get("type"):
        case "text":
            return _text(message["text"]["body"], own_number if "group_id" in message else "")
        case "location":
            place = message["location"]
            data = {name: place[name] for name in ("latitude", "longitude", "name", "address") if name in place}
            shown = ", ".join(
                str(place[name]) for name in ("name", "address", "latitude", "longitude") if name in place
            )
            return [Platform(platform=NAME, component_type="location", data=data, text=f"[location: {shown}]")]
        case "contacts":
            contacts = objects_in(message, "contacts")
            shown = "; ".join(map(_contact, contacts))
            return [
                Platform(
                    platform=NAME, component_type="contacts", data={"contacts": contacts}, text=f"[contacts: {shown}]"
                )
            ]
        case "order":
            return [
                Platform(platform=NAME, component_type="order", data=message["order"], text=_order(message["order"]))
            ]
        case str(kind) if kind in FILES:
            return _file(kind, message[kind])
        case kind:
            problem = next((text(each, "title") for each in objects_in(message, "errors")), "")
            return [Unknown(text=f"[{problem}]" if problem else f"[a message of the kind {str(kind)[:60]}]")]


def _text(content: Any, own_number: str) -> MessageChain:
    """Returns a text; in a group, the bot's number behind an at sign is a mention."""
    if not isinstance(content, str):
        raise TypeError("a text is expected")
    if not own_number:
        return [Plain(text=content)]
    chain: list[Component] = []
    for place, part in enumerate(re.split(rf"@\+?{own_number}(?!\d)", content)):
        if place:
            chain.append(At(target=own_number))
        if part:
            chain.append(Plain(text=part))
    return chain


def _file(kind: str, media: Payload) -> MessageChain:
    name, content = text(media, "filename"), text(media, CONTENT)
    caption = text(media, "caption")
    captions = [Plain(text=caption)] if caption else []
    if not content:
        reason = text(media, PROBLEM) or "it could not be fetched"
        return [Unknown(text=f"[{name or kind}: {reason}]"), *captions]
    mime_type = text(media, "mime_type").partition(";")[0] or None
    found = _KINDS[kind](base64=content, name=name or None, mime_type=mime_type, size=number(media.get("file_size")))
    return [found, *captions]


def _contact(contact: Payload) -> str:
    phones = ", ".join(text(each, "phone") or text(each, "wa_id") for each in objects_in(contact, "phones"))
    return " ".join(filter(None, (text(object_in(contact, "name"), "formatted_name"), phones)))


def _order(order: Payload) -> str:
    items = (
        f"{each.get('quantity', 1)} x {each.get('product_retailer_id', '?')} at {each.get('item_price', '?')} "
        f"{each.get('currency', '')}".strip()
        for each in objects_in(order, "product_items")
    )
    note = text(order, "text")
    return f"[order: {'; '.join(items)}{f' / {note}' if note else ''}]"
