"""A chain → OneBot messages. Text, mentions and pictures share one; what QQ shows only by itself gets its own."""

import base64
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from parlour.core.platforms.port import Content, PlatformRefused
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
ALONE = ("record", "video", "file")
Fetch = Callable[[str], Awaitable[Content]]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the platform: segments, or the nodes of a merged forward."""

    kind: Literal["segments", "forward"]
    segments: list[Segment]


async def encode(chain: MessageChain, fetch: Fetch) -> list[Message]:
    """In order. Empty when there is nothing to send."""
    messages: list[Message] = []
    open_segments: list[Segment] = []
    for component in chain:
        if isinstance(component, Forward):
            nodes = [await _node(node, fetch) for node in component.nodes]
            alone = Message("forward", nodes)
        else:
            segment = await _segment(component, fetch)
            if segment is None:
                continue
            if segment["type"] not in ALONE:
                open_segments.append(segment)
                continue
            alone = Message("segments", [segment])
        if open_segments:
            messages.append(Message("segments", open_segments))
        messages.append(alone)
        open_segments = []
    if open_segments:
        messages.append(Message("segments", open_segments))
    return messages


async def _segment(component: Component, fetch: Fetch) -> Segment | None:
    match component:
        case Plain():
            return _make("text", text=component.text) if component.text else None
        case At():
            return _make("at", qq=component.target)
        case AtAll():
            return _make("at", qq="all")
        case Quote():
            return _make("reply", id=component.id) if component.id else None
        case Face():
            return _make("face", id=component.id)
        case Image() | Voice() | Video() | File():
            return await _media(component, fetch)
        case Platform() if component.platform == NAME:
            return _make(component.component_type, **component.data)
        case Platform():
            return _make("text", text=f"[{component.component_type}]")
        case Unknown():
            return _make("text", text=component.text) if component.text else None
        case Source() | Forward():
            return None


async def _media(component: Media, fetch: Fetch) -> Segment:
    name = component.name
    if component.url:
        file = component.url
    elif component.base64:
        file = f"base64://{component.base64}"
    elif component.artifact_id:
        content = await fetch(component.artifact_id)
        file, name = f"base64://{base64.b64encode(content.data).decode()}", name or content.name
    else:
        reason = "a path of the Host's machine is not sent; give url, base64 or artifact_id instead"
        raise PlatformRefused(reason, permanent=True)
    return _make(KINDS[type(component)], file=file, **({"name": name} if name else {}))


async def _node(node: ForwardNode, fetch: Fetch) -> Segment:
    """By its id where there is nothing else, otherwise with what it says."""
    if node.message_id and not node.chain:
        return _make("node", id=node.message_id)
    content = [segment for message in await encode(node.chain, fetch) for segment in message.segments]
    sender = node.sender or "0"
    name = node.name or sender
    return _make("node", user_id=sender, uin=sender, nickname=name, name=name, content=content)


def _make(kind: str, **data: Any) -> Segment:
    return {"type": kind, "data": data}
