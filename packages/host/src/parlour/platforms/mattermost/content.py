"""Converts the content of a Mattermost post into components of a chain. Files already have their content."""

import re
from collections.abc import Mapping
from typing import Any

from parlour.platforms._kit.payloads import UNREADABLE, Payload, number, object_in, objects_in, text
from parlour_sdk.protocol.chain import (
    At,
    AtAll,
    Component,
    File,
    Forward,
    ForwardNode,
    Image,
    MessageChain,
    Plain,
    Platform,
    Unknown,
    Video,
    Voice,
)
from parlour_sdk.protocol.limits import NESTED_QUOTES

from .entities import NAME, time_milliseconds

CONTENT, PROBLEM = "content_base64", "problem"
"""Keys that are added to a file: its content, or the reason why there is none."""
ATTACHMENT = "attachment"
EVERYONE = ("all", "channel", "here")
MAX_FACT_CHARACTERS = 500
_MENTION = re.compile(r"(?<![\w@.-])@([A-Za-z0-9][\w.-]*)", re.ASCII)
_KINDS: dict[str, type[Image] | type[Voice] | type[Video] | type[File]] = {
    "image": Image,
    "audio": Voice,
    "video": Video,
}


def decode_chain(post: Payload, names: Mapping[str, str], depth: int = 0) -> MessageChain:
    """Converts a post. `names` has the ids of users by their names. Never fails: an unreadable post is Unknown."""
    try:
        metadata = object_in(post, "metadata")
        chain = [
            *text_components(post.get("message"), names),
            *(_file(each) for each in objects_in(metadata, "files")),
            *(_attachment(each) for each in objects_in(object_in(post, "props"), "attachments")),
            *_shared(metadata, depth),
        ]
    except UNREADABLE:
        return [Unknown(text="[a message that can't be read]")]
    return chain or [Unknown(text="[a message without anything that can be shown]")]


def mentioned_names(content: Any) -> set[str]:
    """Returns what may be names of users in a text: a name may end with a dot, and a dot may end its sentence."""
    found = [match[1].lower() for match in _MENTION.finditer(content)] if isinstance(content, str) else []
    return {form for each in found for form in (each, each.rstrip("._-")) if form and form not in EVERYONE}


def text_components(content: Any, names: Mapping[str, str]) -> MessageChain:
    """Splits a text into plain parts and mentions."""
    if content is None or content == "":
        return []
    if not isinstance(content, str):
        return [Unknown(text="[text that can't be read]")]
    chain: list[Component] = []
    position = 0
    for match in _MENTION.finditer(content):
        shown = match[1]
        short = shown.rstrip("._-")
        component: Component | None = None
        for form in (shown, short):
            if form.lower() in EVERYONE:
                component = AtAll()
            elif form.lower() in names:
                component = At(target=names[form.lower()], display=form)
            if component is not None:
                shown = form
                break
        if component is None:
            continue
        if match.start() > position:
            chain.append(Plain(text=content[position : match.start()]))
        chain.append(component)
        position = match.start() + 1 + len(shown)
    if position < len(content):
        chain.append(Plain(text=content[position:]))
    return chain


def _file(file: Payload) -> Component:
    name, content = text(file, "name") or "a file", text(file, CONTENT)
    if not content:
        return Unknown(text=f"[{name}: {text(file, PROBLEM) or 'it could not be fetched'}]")
    mime_type = text(file, "mime_type")
    kind = _KINDS.get(mime_type.partition("/")[0], File)
    return kind(base64=content, name=name, size=number(file.get("size")), mime_type=mime_type or None)


def _attachment(attachment: Payload) -> Platform:
    """Converts an attachment that a program wrote: a frame with a title, fields and buttons."""
    fields = [f"{text(each, 'title')}: {each.get('value')}" for each in objects_in(attachment, "fields")]
    actions = [text(each, "name") for each in objects_in(attachment, "actions")]
    parts = [text(attachment, name) for name in ("pretext", "author_name", "title", "text")]
    facts = "; ".join(filter(None, [*parts, *fields, *actions])) or text(attachment, "fallback")
    shown = facts[:MAX_FACT_CHARACTERS]
    return Platform(
        platform=NAME,
        component_type=ATTACHMENT,
        data=attachment,
        text=f"[attachment: {shown}]" if shown else "[attachment]",
    )


def _shared(metadata: Payload, depth: int) -> MessageChain:
    """Returns the messages that are shown because the text links to them."""
    embeds = [each for each in objects_in(metadata, "embeds") if each.get("type") == "permalink"]
    shared = [object_in(each, "data") for each in embeds]
    posts = [object_in(each, "post") for each in shared if object_in(each, "post")]
    if not posts or depth >= NESTED_QUOTES - 1:
        return []
    return [Forward(nodes=[_node(each, depth) for each in posts])]


def _node(post: Payload, depth: int) -> ForwardNode:
    return ForwardNode(
        sender=text(post, "user_id") or None,
        time=time_milliseconds(post["create_at"]) if "create_at" in post else None,
        message_id=text(post, "id") or None,
        chain=decode_chain({**post, "metadata": {}}, {}, depth + 1),
    )
