"""Converts the content of a Slack message into components of a chain, in order. Files already have their content."""

import re
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
from .mrkdwn import unescape

CONTENT, PROBLEM = "content_base64", "problem"
"""Keys that are added to a file: its content, or the reason why there is none."""
OWN_BLOCKS = ("rich_text", "section", "actions", "markdown")
"""Kinds of blocks whose content is also in the text of the message, or that only the bot's messages have."""
MAX_FACT_CHARACTERS = 500
_TOKEN = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")
_EVERYONE = ("channel", "here", "everyone")
_KINDS: dict[str, type[Image] | type[Voice] | type[Video] | type[File]] = {
    "image": Image,
    "audio": Voice,
    "video": Video,
}


def decode_chain(message: Payload, depth: int = 0) -> MessageChain:
    """Converts a message. Never fails: an unreadable message becomes Unknown."""
    try:
        chain = [
            *text_components(message.get("text")),
            *(_file(each) for each in objects_in(message, "files")),
            *(_block(each) for each in objects_in(message, "blocks") if each.get("type") not in OWN_BLOCKS),
            *_shared(message, depth),
        ]
    except UNREADABLE:
        return [Unknown(text="[a message that can't be read]")]
    return chain or [Unknown(text="[a message without anything that can be shown]")]


def text_components(content: Any) -> MessageChain:
    """Splits a text into plain parts and mentions. Links become their address, with their name before it."""
    if content is None:
        return []
    if not isinstance(content, str):
        return [Unknown(text="[text that can't be read]")]
    chain: list[Component] = []
    position = 0
    for match in _TOKEN.finditer(content):
        _add(chain, Plain(text=unescape(content[position : match.start()])))
        _add(chain, _token(match))
        position = match.end()
    _add(chain, Plain(text=unescape(content[position:])))
    return chain


def mentions(content: Any, user_id: str) -> bool:
    found = _TOKEN.finditer(content) if isinstance(content, str) else ()
    return any(match[1] == "@" and match[2] == user_id for match in found)


def _token(match: re.Match[str]) -> Component:
    sign, name, label = match[1], match[2], unescape(match[3] or "")
    match sign:
        case "@":
            return At(target=name, display=label or None)
        case "#":
            return Plain(text=f"#{label or name}")
        case "!" if name in _EVERYONE:
            return AtAll()
        case "!":
            return Plain(text=label or f"@{name.partition('^')[0]}")
    address = unescape(name)
    return Plain(text=f"{label} ({address})" if label and label not in address else address)


def _add(chain: list[Component], component: Component) -> None:
    """Adds a component; adjacent texts become one."""
    if isinstance(component, Plain) and chain and isinstance(chain[-1], Plain):
        chain[-1] = Plain(text=chain[-1].text + component.text)
    elif not isinstance(component, Plain) or component.text:
        chain.append(component)


def _file(file: Payload) -> Component:
    name, content = text(file, "name") or text(file, "title") or "a file", text(file, CONTENT)
    if not content:
        return Unknown(text=f"[{name}: {text(file, PROBLEM) or 'it could not be fetched'}]")
    mime_type = text(file, "mimetype")
    details: dict[str, Any] = {
        "base64": content,
        "name": name,
        "size": number(file.get("size")),
        "mime_type": mime_type or None,
    }
    kind = _KINDS.get(mime_type.partition("/")[0], File)
    clip = text(file, "subtype")  # voice clips are videos without a picture
    kind = Voice if clip == "slack_audio" else Video if clip == "slack_video" else kind
    milliseconds = number(file.get("duration_ms"))
    if kind in (Voice, Video) and milliseconds is not None:
        details["duration"] = milliseconds / 1000
    return kind(**details)


def _block(block: Payload) -> Component:
    kind = text(block, "type")
    facts = " ".join(_texts(block))[:MAX_FACT_CHARACTERS]
    return Platform(
        platform=NAME, component_type="block", data=block, text=f"[{kind}: {facts}]" if facts else f"[{kind}]"
    )


def _texts(value: Any, depth: int = 8) -> list[str]:
    """Returns the texts in a block, at any depth."""
    if not depth:
        return []
    if isinstance(value, dict):
        own = [value["text"]] if isinstance(value.get("text"), str) else []
        return own + [each for part in value.values() for each in _texts(part, depth - 1)]
    return [each for part in value for each in _texts(part, depth - 1)] if isinstance(value, list) else []


def _shared(message: Payload, depth: int) -> MessageChain:
    """Returns the messages of other chats that were shared with this one."""
    shared = [each for each in objects_in(message, "attachments") if each.get("is_share") or each.get("is_msg_unfurl")]
    if not shared or depth >= NESTED_QUOTES - 1:
        return []
    return [Forward(nodes=[_node(each, depth) for each in shared])]


def _node(shared: Payload, depth: int) -> ForwardNode:
    return ForwardNode(
        sender=text(shared, "author_id") or None,
        name=text(shared, "author_name") or None,
        time=time_milliseconds(shared["ts"]) if "ts" in shared else None,
        message_id=text(shared, "ts") or None,
        chain=decode_chain({"text": shared.get("text"), "files": object_in(shared, "files")}, depth + 1),
    )
