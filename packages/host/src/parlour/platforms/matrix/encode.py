"""Converts a chain into the contents of room events. Text and mentions share one event; each file has its own."""

from typing import Any

from parlour_sdk.protocol.chain import (
    At,
    AtAll,
    Component,
    Face,
    Forward,
    Media,
    MessageChain,
    Plain,
    Platform,
    Quote,
    Source,
    Unknown,
)
from parlour_sdk.values import dataclass

from .formatting import mark, pill, render_html, strip_marks
from .mentions import EVERYONE
from .rooms import local_part
from .values import NAME, Payload

MESSAGE_TYPE = "m.notice"
"""Message type of bots, to which other bots do not reply."""
MAX_FORMATTED_BYTES = 30_000
"""Maximum size of a formatted body in bytes. An event may have 64 KiB, and an edit contains its content twice."""


@dataclass(frozen=True, slots=True)
class MatrixMessageContent:
    """One message event: its content, or the file from which the content is made."""

    content: Payload
    media: Media | None = None


def encode(chain: MessageChain) -> list[MatrixMessageContent]:
    """Encodes a chain in order; the result is empty if there is nothing to send.

    The quoted message is returned by `quoted_message_id`.
    """
    said: list[MatrixMessageContent] = []
    words: MessageChain = []
    for component in chain:
        if isinstance(component, Media) and not component.url:
            alone = MatrixMessageContent({}, component)
        elif isinstance(component, Platform) and component.platform == NAME:
            kind = component.component_type
            alone = MatrixMessageContent({"body": f"[{kind}]", **component.data, "msgtype": kind})
        else:
            words.append(component)
            continue
        said += [*_texts(words), alone]
        words = []
    return said + _texts(words)


def quoted_message_id(chain: MessageChain) -> str:
    """Returns the id of the message that the chain replies to, or an empty string."""
    return next((each.id for each in chain if isinstance(each, Quote) and each.id), "")


def with_relation(content: Payload, thread_id: str, reply_to: str) -> Payload:
    if not thread_id and not reply_to:
        return content
    told: Payload = {"m.in_reply_to": {"event_id": reply_to or thread_id}}
    if thread_id:
        told |= {"rel_type": "m.thread", "event_id": thread_id, "is_falling_back": not reply_to}
    return {**content, "m.relates_to": told}


def edit_content(content: Payload, message_id: str) -> Payload:
    """Builds the content of an edit.

    It has no mentions, because mentioned users were notified by the original message.
    """
    return {
        "msgtype": content["msgtype"],
        "body": f"* {content['body']}",
        "m.mentions": {},
        "m.new_content": content,
        "m.relates_to": {"rel_type": "m.replace", "event_id": message_id},
    }


def _texts(words: MessageChain) -> list[MatrixMessageContent]:
    if not any(not isinstance(each, Quote | Source) and _component_text(each) for each in words):
        return []
    body = "".join(_component_text(each) for each in words)
    marks = {number: each for number, each in enumerate(words) if isinstance(each, At)}
    source = "".join(
        mark(number) if number in marks else strip_marks(_component_text(each)) for number, each in enumerate(words)
    )
    html = render_html(source, {number: pill(each.target, _component_text(each)) for number, each in marks.items()})
    content: Payload = {"msgtype": MESSAGE_TYPE, "body": body, "m.mentions": _mentions(words)}
    if html and len(html.encode()) <= MAX_FORMATTED_BYTES:
        content |= {"format": "org.matrix.custom.html", "formatted_body": html}
    return [MatrixMessageContent(content)]


def _mentions(words: MessageChain) -> dict[str, Any]:
    """Builds the mentions of a message.

    An empty object says that no user is mentioned, whatever the text looks like.
    """
    users = list(dict.fromkeys(each.target for each in words if isinstance(each, At)))
    everyone = any(isinstance(each, AtAll) for each in words)
    return ({"user_ids": users} if users else {}) | ({"room": True} if everyone else {})


def _component_text(component: Component) -> str:
    match component:
        case Plain() | Unknown():
            return component.text
        case At():
            return component.display or local_part(component.target)
        case AtAll():
            return EVERYONE
        case Face():
            return f"[{component.name or component.id}]"
        case Forward():
            return "".join(f"{node.name or node.sender or '?'}: {_joined(node.chain)}\n" for node in component.nodes)
        case Media():
            return f"{component.name or component.type.lower()}: {component.url}\n"
        case Platform():
            return f"[{component.component_type}]"
    return ""


def _joined(chain: MessageChain) -> str:
    return "".join(_component_text(each) for each in chain)
