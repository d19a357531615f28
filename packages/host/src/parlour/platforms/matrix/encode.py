"""Converts a chain into the contents of room events. Text and mentions share one event; each file has its own.

Markdown becomes the HTML of a formatted body: everything else is escaped, and only tags that Matrix knows are produced.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from html import escape
from typing import Any

from parlour.core.delivery.rendering.markdown_parser import markdown_parser
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

from .content import EVERYONE
from .rooms import local_part
from .values import NAME, Payload

MESSAGE_TYPE = "m.notice"
"""Message type of bots, to which other bots do not reply."""
MAX_FORMATTED_BYTES = 30_000
"""Maximum size of a formatted body in bytes. An event may have 64 KiB, and an edit contains its content twice."""
OPENED, CLOSED = "\ue000", "\ue001"
"""Delimiters around the number of a mention in a text that is to be formatted."""
_MARK = re.compile(f"{OPENED}([0-9]+){CLOSED}")
_MARKUP = re.compile(r"[\\`*_\[\]<>#~|]|^\s*(?:[-+]|\d+[.)])\s|^\s{4}|^[=-]+\s*$|https?://", re.MULTILINE)
_SCHEMES = ("http://", "https://", "mailto:")


@dataclass(frozen=True, slots=True)
class MatrixMessageContent:
    """One message event: its content, or the file from which the content is made."""

    content: Payload
    media: Media | None = None


def encode(chain: MessageChain) -> list[MatrixMessageContent]:
    """Encodes a chain in order; the result is empty if there is nothing to send.

    The quoted message is returned by `quoted_message_id`.
    """
    contents: list[MatrixMessageContent] = []
    inline_parts: MessageChain = []
    for component in chain:
        if isinstance(component, Media) and not component.url:
            single = MatrixMessageContent({}, component)
        elif isinstance(component, Platform) and component.platform == NAME:
            kind = component.component_type
            single = MatrixMessageContent({"body": f"[{kind}]", **component.data, "msgtype": kind})
        else:
            inline_parts.append(component)
            continue
        contents += [*_texts(inline_parts), single]
        inline_parts = []
    return contents + _texts(inline_parts)


def quoted_message_id(chain: MessageChain) -> str:
    """Returns the id of the message that the chain replies to, or an empty string."""
    return next((each.id for each in chain if isinstance(each, Quote) and each.id), "")


def with_relation(content: Payload, thread_id: str, reply_to: str) -> Payload:
    if not thread_id and not reply_to:
        return content
    relation: Payload = {"m.in_reply_to": {"event_id": reply_to or thread_id}}
    if thread_id:
        relation |= {"rel_type": "m.thread", "event_id": thread_id, "is_falling_back": not reply_to}
    return {**content, "m.relates_to": relation}


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


def _texts(inline_parts: MessageChain) -> list[MatrixMessageContent]:
    if not any(not isinstance(each, Quote | Source) and _component_text(each) for each in inline_parts):
        return []
    body = "".join(_component_text(each) for each in inline_parts)
    marks = {number: each for number, each in enumerate(inline_parts) if isinstance(each, At)}
    source = "".join(
        mark(number) if number in marks else strip_marks(_component_text(each))
        for number, each in enumerate(inline_parts)
    )
    html = render_html(source, {number: pill(each.target, _component_text(each)) for number, each in marks.items()})
    content: Payload = {"msgtype": MESSAGE_TYPE, "body": body, "m.mentions": _mentions(inline_parts)}
    if html and len(html.encode()) <= MAX_FORMATTED_BYTES:
        content |= {"format": "org.matrix.custom.html", "formatted_body": html}
    return [MatrixMessageContent(content)]


def _mentions(inline_parts: MessageChain) -> dict[str, Any]:
    """Builds the mentions of a message.

    An empty object says that no user is mentioned, whatever the text looks like.
    """
    users = list(dict.fromkeys(each.target for each in inline_parts if isinstance(each, At)))
    everyone = any(isinstance(each, AtAll) for each in inline_parts)
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
            return "".join(f"{node.name or node.sender or '?'}: {_join_text(node.chain)}\n" for node in component.nodes)
        case Media():
            return f"{component.name or component.type.lower()}: {component.url}\n"
        case Platform():
            return f"[{component.component_type}]"
    return ""


def _join_text(chain: MessageChain) -> str:
    return "".join(_component_text(each) for each in chain)


def render_html(text: str, mentions: Mapping[int, str]) -> str:
    """Renders a text as HTML; empty if it needs no formatting. `mentions` are the links that replace their marks."""
    if not mentions and _MARKUP.search(text) is None:
        return ""
    html = _renderer()(text).strip().replace("\n</code>", "</code>")
    html = _unwrap_paragraph(html)
    return _MARK.sub(lambda mark: mentions.get(int(mark[1]), ""), html)


def strip_marks(text: str) -> str:
    """Removes mark characters from a text, so that only the marks of this module remain."""
    return text.replace(OPENED, "").replace(CLOSED, "")


def mark(number: int) -> str:
    return f"{OPENED}{number}{CLOSED}"


def pill(user_id: str, label: str) -> str:
    return f'<a href="https://matrix.to/#/{escape(user_id)}">{escape(label)}</a>'


def _unwrap_paragraph(html: str) -> str:
    """Removes the paragraph tags around a single paragraph, which would add space above and below it."""
    if html.startswith("<p>") and html.endswith("</p>") and html.count("<p>") == 1:
        return html.removeprefix("<p>").removesuffix("</p>")
    return html


@cache
def _renderer() -> Callable[[str], str]:
    parser = markdown_parser(keep_line_breaks=True)
    parser.disable("image")  # Matrix shows no external images; a link remains
    parser.validateLink = lambda url: url.strip().lower().startswith(_SCHEMES)  # type: ignore[method-assign]
    return parser.render
