"""Converts a chain into OneBot messages. Text, mentions and pictures share one; what QQ shows only alone gets its own.

A component has one meaning: only AtAll mentions everyone, and files are given only by address or content, even where
segments allow other forms.
"""

import base64
import re
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from parlour.core.platforms.port import FileContent, PlatformRefused
from parlour_sdk.protocol.chain import (
    At,
    AtAll,
    Component,
    Face,
    File,
    Forward,
    ForwardNode,
    Image,
    Media,
    MessageChain,
    Plain,
    Platform,
    Quote,
    Source,
    Unknown,
    Video,
    Voice,
)
from parlour_sdk.values import dataclass

from .segments import NAME, Segment

KINDS: dict[type[Media], str] = {Image: "image", Voice: "record", Video: "video", File: "file"}
STANDALONE_SEGMENTS = ("record", "video", "file")
COMMON = frozenset(("text", "at", "reply", "face", "forward", "node", *KINDS.values()))
FILE_FIELDS = frozenset(("file", "url", "path", "image", "thumb", "cover"))
"""Fields in which segments refer to files."""
ADDRESSES = ("http://", "https://", "base64://")
NO_PATH = "a file of a machine is not sent by its path; give url (http or https), base64 or artifact_id instead"
WORD = re.compile(r"[A-Za-z0-9_.-]+")
Fetch = Callable[[str], Awaitable[FileContent]]


@dataclass(frozen=True, slots=True)
class OneBotMessage:
    """One message of the platform: segments, or the nodes of a merged forward."""

    kind: Literal["segments", "forward"]
    segments: list[Segment]


async def encode(chain: MessageChain, fetch: Fetch, account: str = "") -> list[OneBotMessage]:
    """Encodes a chain in order; the result is empty if there is nothing to send. Forwarded messages without a sender
    are those of `account`, which is the bot.
    """
    messages: list[OneBotMessage] = []
    open_segments: list[Segment] = []
    for component in chain:
        if isinstance(component, Forward):
            nodes = [await _node(node, fetch, account) for node in component.nodes]
            single = OneBotMessage("forward", nodes)
        else:
            segment = await _segment(component, fetch)
            if segment is None:
                continue
            if segment["type"] not in STANDALONE_SEGMENTS:
                open_segments.append(segment)
                continue
            single = OneBotMessage("segments", [segment])
        if open_segments:
            messages.append(OneBotMessage("segments", open_segments))
        messages.append(single)
        open_segments = []
    if open_segments:
        messages.append(OneBotMessage("segments", open_segments))
    return messages


async def _segment(component: Component, fetch: Fetch) -> Segment | None:
    match component:
        case Plain():
            return _make("text", {"text": component.text}) if component.text else None
        case At() if component.target.isdecimal():
            return _make("at", {"qq": component.target})
        case At():  # includes "all"
            return _make("text", {"text": f"@{component.display or component.target}"})
        case AtAll():
            return _make("at", {"qq": "all"})
        case Quote():
            return _make("reply", {"id": component.id}) if component.id else None
        case Face():
            return _make("face", {"id": component.id})
        case Image() | Voice() | Video() | File():
            return await _media(component, fetch)
        case Platform() if component.platform == NAME:
            return _own(component)
        case Platform():
            return _make("text", {"text": f"[{component.component_type}]"})
        case Unknown():
            return _make("text", {"text": component.text}) if component.text else None
        case Source() | Forward():
            return None


async def _media(component: Media, fetch: Fetch) -> Segment:
    name = component.name
    if component.url:
        file = check_address(component.url)
    elif component.base64:
        file = f"base64://{component.base64}"
    elif component.artifact_id:
        content = await fetch(component.artifact_id)
        file, name = f"base64://{base64.b64encode(content.data).decode()}", name or content.name
    else:
        raise PlatformRefused(NO_PATH, permanent=True)
    return _make(KINDS[type(component)], {"file": file, **({"name": name} if name else {})})


def _own(component: Platform) -> Segment:
    """Builds a segment for which there is no component."""
    kind = component.component_type
    if kind in COMMON:
        reason = f"Platform: a segment '{kind}' is sent as a component of its own, such as Plain, At or Image"
        raise PlatformRefused(reason, permanent=True)
    if not WORD.fullmatch(kind) or not all(WORD.fullmatch(name) for name in component.data):
        raise PlatformRefused("Platform: a segment's type and fields are words of letters and digits", permanent=True)
    for name in FILE_FIELDS & component.data.keys():
        check_address(str(component.data[name]))
    return _make(kind, component.data)


def check_address(address: str) -> str:
    """Returns the address unchanged. Raises PlatformRefused if it names a file on the machine of the implementation."""
    if not address.lower().startswith(ADDRESSES):
        raise PlatformRefused(NO_PATH, permanent=True)
    return address


async def _node(node: ForwardNode, fetch: Fetch, account: str) -> Segment:
    """Builds a node by message id if it has no content, otherwise with its content."""
    if node.message_id and not node.chain:
        return _make("node", {"id": node.message_id})
    content = [segment for message in await encode(node.chain, fetch, account) for segment in message.segments]
    sender = node.sender or account or "0"
    name = node.name or sender
    author = {"user_id": sender, "uin": sender, "nickname": name, "name": name}
    return _make("node", {**author, "content": content})


def _make(kind: str, data: dict[str, Any]) -> Segment:
    return {"type": kind, "data": data}
