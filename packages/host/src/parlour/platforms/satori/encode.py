"""Converts a chain into the elements of a Satori message. Only mentions of the chain notify users."""

import base64

from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.outgoing_files import Fetch, OutgoingFile, read_file
from parlour_sdk.protocol.chain import (
    At,
    AtAll,
    Component,
    Face,
    File,
    Forward,
    Image,
    Media,
    MessageChain,
    Plain,
    Platform,
    Quote,
    Unknown,
    Video,
    Voice,
)
from parlour_sdk.values import dataclass

from .elements import element, escape
from .entities import NAME, SERVICE

MAX_FILE_BYTES = 32 * 1024 * 1024
MAX_INLINE_BYTES = 512 * 1024
"""Larger files are uploaded instead of being a part of the message."""
_NAMES: dict[type[Media], str] = {Image: "img", Voice: "audio", Video: "video", File: "file"}


@dataclass(frozen=True, slots=True)
class SatoriFile:
    """A file of a message that is uploaded first."""

    kind: str
    file: OutgoingFile

    def write(self, source: str) -> str:
        return element(self.kind, {"src": source, "title": self.file.name})


async def encode(chain: MessageChain, fetch: Fetch) -> list[str | SatoriFile]:
    """Encodes a chain into pieces of one message, in order. Raises PlatformRefused if there is nothing to show."""
    pieces: list[str | SatoriFile] = []
    for component in chain:
        if isinstance(component, Media) and not component.url:
            file = await read_file(component, fetch, MAX_FILE_BYTES, SERVICE)
            piece = SatoriFile(_NAMES[type(component)], file)
            pieces.append(piece if len(file.data) > MAX_INLINE_BYTES else piece.write(_inline(file)))
        else:
            pieces.append(component_text(component))
    if not any(isinstance(each, SatoriFile) or each.strip() for each in pieces):
        raise PlatformRefused("there is nothing in this message that can be shown", permanent=True)
    return pieces


def component_text(component: Component) -> str:
    """Returns a component as elements."""
    match component:
        case Plain() | Unknown():
            return escape(component.text)
        case At():
            return element("at", {"id": component.target, "name": component.display})
        case AtAll():
            return element("at", {"type": "all"})
        case Face():
            return element("emoji", {"id": component.id, "name": component.name})
        case Quote():
            return element("quote", {"id": component.id}) if component.id else ""
        case Media():
            return element(_NAMES[type(component)], {"src": component.url, "title": component.name})
        case Forward():
            nodes = (
                element("author", {"id": node.sender, "name": node.name}) + "".join(map(component_text, node.chain))
                for node in component.nodes
            )
            return element("message", {"forward": "true"}, "".join(element("message", {}, node) for node in nodes))
        case Platform(platform=platform, component_type=kind, data=data) if platform == NAME and _is_name(kind):
            attributes = {name: str(value) for name, value in data.items() if _is_name(name) and name != "label"}
            return element(kind, attributes, escape(str(data.get("label") or "")))
        case Platform():
            return escape(component.text or f"[{component.component_type}]")
    return ""


def _is_name(text: str) -> bool:
    return bool(text) and text.isascii() and text.replace("-", "").replace(":", "").replace("_", "").isalnum()


def _inline(file: OutgoingFile) -> str:
    return f"data:{file.mime_type};base64,{base64.b64encode(file.data).decode()}"
