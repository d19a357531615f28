"""Builds message chains: `chain("Hello ", at("42"), image(url="https://..."))`."""

import base64 as encoding
from collections.abc import Sequence
from typing import Any, Final, TypeAlias, TypedDict, TypeVar, Unpack, cast, get_args

from .protocol.chain import (
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
    Video,
    Voice,
)

Part: TypeAlias = str | Component | Sequence[str | Component]
Kind = TypeVar("Kind", bound=Media)
COMPONENTS: Final[tuple[type, ...]] = get_args(get_args(Component)[0])


class MediaSource(TypedDict, total=False):
    """Arguments that describe media: exactly one of the first five says where the content is."""

    content: bytes
    url: str
    path: str
    base64: str
    artifact_id: str
    name: str
    mime_type: str


def chain(*parts: Part) -> MessageChain:
    """Joins texts, components and other chains into one chain, in order."""
    return [component for part in parts for component in _components(part)]


def at(user_id: str, display: str | None = None) -> At:
    return At(target=user_id, display=display)


def at_all() -> AtAll:
    return AtAll()


def image(**source: Unpack[MediaSource]) -> Image:
    return _media(Image, source)


def voice(*, duration: float | None = None, **source: Unpack[MediaSource]) -> Voice:
    """Builds a voice message; `duration` is in seconds."""
    return _media(Voice, source, duration=duration)


def video(*, duration: float | None = None, **source: Unpack[MediaSource]) -> Video:
    """Builds a video; `duration` is in seconds."""
    return _media(Video, source, duration=duration)


def file(**source: Unpack[MediaSource]) -> File:
    return _media(File, source)


def quote(message_id: str, *origin: Part, sender: str | None = None) -> Quote:
    """Quotes the message that this one answers; `origin` is its content, if known."""
    return Quote(id=message_id, sender=sender, origin=chain(*origin))


def face(face_id: str, name: str | None = None) -> Face:
    return Face(id=face_id, name=name)


def forward(*nodes: ForwardNode) -> Forward:
    """Forwards several messages as one: `forward(node("Hi", name="Ada"), node("Hello", name="Bob"))`."""
    return Forward(nodes=list(nodes))


def node(*parts: Part, sender: str | None = None, name: str | None = None, time: int | None = None) -> ForwardNode:
    return ForwardNode(sender=sender, name=name, time=time, chain=chain(*parts))


def platform(name: str, component_type: str, **data: Any) -> Platform:
    """Builds a component that exists on one platform only."""
    return Platform(platform=name, component_type=component_type, data=data)


def _components(part: Part) -> MessageChain:
    if isinstance(part, str):
        return [Plain(text=part)]
    if isinstance(part, list | tuple):
        return chain(*part)
    if not isinstance(part, COMPONENTS):
        expected = "texts and what at(), image() and the like make"
        raise TypeError(f"a chain is made of {expected}, not of a {type(part).__name__}")
    return [cast(Component, part)]


def _media(kind: type[Kind], source: MediaSource, **fields: Any) -> Kind:
    source_fields: dict[str, Any] = dict(source)
    if "content" in source_fields:
        if "base64" in source_fields:
            raise ValueError("give the content or its base64, not both")
        content = source_fields.pop("content")
        source_fields |= {"base64": encoding.b64encode(content).decode(), "size": len(content)}
    return kind(**source_fields, **fields)
