"""Converts the contents of QQ's messages into chains. Pure."""

import base64
import binascii
import json
import re
from typing import Any

from parlour.platforms._kit.payloads import Payload, number, object_in, objects_in, text
from parlour_sdk.protocol.chain import (
    At,
    AtAll,
    Component,
    Face,
    File,
    Image,
    Media,
    Plain,
    Quote,
    Unknown,
    Video,
    Voice,
)

QUOTE_TYPE = 103
_PART = re.compile(
    r'<faceType=\d+,faceId="(?P<face>[^"]*)",ext="(?P<ext>[^"]*)">|<emoji:(?P<emoji>\d+)>|<@!?(?P<user>[^>\s]+)>'
    r"|(?P<all>@everyone)"
)


def content(message: Payload, own_mention: list[Component]) -> list[Component]:
    """Returns the components of a message, with the quoted message first and then the mention of the bot."""
    return [*_quote(message), *own_mention, *_parts(message)]


def _parts(message: Payload) -> list[Component]:
    written = message.get("content")
    if written is not None and not isinstance(written, str):
        raise ValueError("content is no text")
    chain = _text((written or "").strip())
    chain += [_attachment(each) for each in objects_in(message, "attachments")]
    return chain or [Unknown(text="[an empty message]")]


def _text(written: str) -> list[Component]:
    chain: list[Component] = []
    place = 0
    for match in _PART.finditer(written):
        chain += [Plain(text=written[place : match.start()])] if match.start() > place else []
        chain.append(_special(match))
        place = match.end()
    return [*chain, Plain(text=written[place:])] if place < len(written) else chain


def _special(match: re.Match[str]) -> Component:
    if match["all"]:
        return AtAll()
    if match["user"]:
        return At(target=match["user"])
    if match["emoji"]:
        return Face(id=match["emoji"])
    try:
        name = text(json.loads(base64.b64decode(match["ext"])), "text")
    except (ValueError, binascii.Error, AttributeError):
        name = ""
    return Face(id=match["face"] or "0", name=name or None)


def _attachment(data: Payload) -> Component:
    """Returns a file, which the Host downloads. Some addresses lack the scheme."""
    kind, url = text(data, "content_type"), text(data, "url")
    if not url:
        return Unknown(text=f"[{kind[:40] or 'file'}: it has no address]")
    url = url if "://" in url else f"https://{url.lstrip('/')}"
    fields: dict[str, Any] = {"url": url, "name": text(data, "filename") or None, "size": number(data.get("size"))}
    component: type[Media] = File
    if kind.startswith("image"):
        component = Image
    elif kind.startswith("video"):
        component = Video
    elif kind.startswith(("voice", "audio")):
        component, fields["url"] = Voice, text(data, "voice_wav_url") or url
    fields["mime_type"] = kind if "/" in kind else {"voice": "audio/silk"}.get(kind)
    return component(**fields)  # type: ignore[return-value]


def _quote(message: Payload) -> list[Component]:
    reference = text(object_in(message, "message_reference"), "message_id")
    if message.get("message_type") == QUOTE_TYPE:
        elements = objects_in(message, "msg_elements")
        origin = _text(text(elements[0], "content")) if elements else []
        sender = object_in(elements[0], "author") if elements else {}
        author = text(sender, "member_openid") or text(sender, "user_openid") or text(sender, "id")
        return [Quote(id=_reference(message) or None, sender=author or None, origin=origin)]
    return [Quote(id=reference)] if reference else []


def _reference(message: Payload) -> str:
    """Returns the number of the quoted message within the chat."""
    entries = object_in(message, "message_scene").get("ext")
    entries = entries if isinstance(entries, list) else []
    found = [each.partition("=")[2] for each in entries if isinstance(each, str) and each.startswith("ref_msg_idx=")]
    return found[0] if found else ""
