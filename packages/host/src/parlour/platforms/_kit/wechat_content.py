"""Converts between chains and the contents of messages as WeCom and WeChat have them: texts and files by media id."""

import base64
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from typing import Any
from urllib.parse import unquote

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
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

from .buttons import Button, read_buttons
from .errcode_client import ErrcodeClient
from .http_client import ApiResponse
from .outgoing_files import Fetch, OutgoingFile, read_file
from .payloads import Payload, text

CONTENT, FILE_NAME, FILE_TYPE, PROBLEM = "content_base64", "content_name", "content_type", "content_problem"
"""Keys that are added to a message with a file: its content, or the reason why there is none."""
FILE_KINDS: Mapping[str, type[Image] | type[Voice] | type[Video] | type[File]] = {
    "image": Image, "voice": Voice, "video": Video, "shortvideo": Video, "file": File,
}  # fmt: skip
_ENDINGS = {"image": "jpg", "voice": "amr", "video": "mp4", "shortvideo": "mp4", "file": "bin"}
_TYPES = {"image": "image/jpeg", "voice": "audio/amr", "video": "video/mp4", "shortvideo": "video/mp4"}
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class FileRule:
    """What a platform accepts as a file of this kind."""

    kind: str
    mime_types: tuple[str, ...] = ()
    """Empty for any type."""
    max_bytes: int = 20 * MIB

    def accepts(self, file: OutgoingFile) -> bool:
        return len(file.data) <= self.max_bytes and (not self.mime_types or file.mime_type in self.mime_types)


@dataclass(frozen=True, slots=True)
class SendProfile:
    """What messages of a platform may contain. `service` is its name in messages, `platform` that of its adapter."""

    service: str
    platform: str
    files: Mapping[str, FileRule]
    own_kinds: Collection[str] = ()
    """Types of the platform's own components that it can send."""


@dataclass(slots=True)
class WechatPart:
    """One message to send: a text, a file, a text with buttons, or a component of the platform's own."""

    text: str = ""
    file: OutgoingFile | None = None
    kind: str = "text"
    buttons: list[Button] = field(default_factory=list)
    own: Payload = field(default_factory=dict)

    @property
    def is_text(self) -> bool:
        return self.kind == "text"


async def encode_parts(chain: MessageChain, fetch: Fetch, profile: SendProfile) -> list[WechatPart]:
    """Encodes a chain into messages, in order. Buttons go to the last text.

    A file that does not fit the rule of its kind is sent under the rule `File`, if the platform has one. Raises
    PlatformRefused if nothing is left to send.
    """
    parts, buttons = [WechatPart()], list[Button]()
    for component in chain:
        match component:
            case Media() if not component.url:
                parts += [await _file_part(component, fetch, profile), WechatPart()]
            case Platform(platform=platform, component_type=kind, data=data) if (
                platform == profile.platform and kind in profile.own_kinds
            ):
                parts += [WechatPart(kind=kind, own=dict(data)), WechatPart()]
            case Platform(component_type="buttons"):
                buttons = [button for row in read_buttons(component.data) for button in row]
            case _:
                parts[-1].text += component_text(component)
    shown = [part for part in parts if not part.is_text or part.text.strip()]
    if buttons:
        if not shown or not shown[-1].is_text:
            shown.append(WechatPart())
        shown[-1].buttons = buttons
    if not shown:
        raise PlatformRefused(f"there is nothing in this message that {profile.service} could show", permanent=True)
    return shown


def named_message(parts: Sequence[WechatPart], message_ids: Sequence[str]) -> str:
    """Returns the id under which a message in several parts is known: that of its buttons, which a press names."""
    with_buttons = (sent for part, sent in zip(parts, message_ids, strict=True) if part.buttons)
    return next(with_buttons, message_ids[0])


async def _file_part(media: Media, fetch: Fetch, profile: SendProfile) -> WechatPart:
    rules, service = profile.files, profile.service
    largest = max((rule.max_bytes for rule in rules.values()), default=0)
    file = await read_file(media, fetch, largest, service)
    rule = next((each for each in (rules.get(media.type), rules.get("File")) if each and each.accepts(file)), None)
    if rule is None:
        reason = f"{service} does not take the file {file.name}: {_limits(rules.get(media.type))}"
        raise PlatformRefused(reason, permanent=True)
    return WechatPart(file=file, kind=rule.kind)


def _limits(rule: FileRule | None) -> str:
    if rule is None:
        return "files of this kind can't be sent"
    types = ", ".join(rule.mime_types) or "any type"
    return f"{types} of at most {rule.max_bytes // MIB} MiB"


def component_text(component: Component) -> str:
    """Returns a component as text."""
    match component:
        case Plain() | Unknown():
            return component.text
        case At():
            return f"@{component.display or component.target} "
        case AtAll():
            return "@all "
        case Media():
            return component.url or ""
        case Face():
            return f"[{component.name or component.id}]"
        case Quote():
            return "".join(f"> {line}\n" for line in _joined(component.origin).splitlines())
        case Forward():
            return "".join(f"{node.name or node.sender or '?'}: {_joined(node.chain)}\n" for node in component.nodes)
        case Platform():
            return component.text or f"[{component.component_type}]"
    return ""


def _joined(chain: MessageChain) -> str:
    return "".join(map(component_text, chain))


def file_component(kind: str, message: Payload) -> Component:
    """Returns the component of a message whose file was fetched."""
    content, problem = text(message, CONTENT), text(message, PROBLEM)
    if not content:
        return Unknown(text=f"[{kind}: {problem or 'it could not be fetched'}]")
    name = text(message, FILE_NAME) or f"{kind}.{_ENDINGS.get(kind, 'bin')}"
    mime_type = text(message, FILE_TYPE) or _TYPES.get(kind) or "application/octet-stream"
    size = len(content) * 3 // 4 - content[-2:].count("=")
    return FILE_KINDS[kind](base64=content, name=name, mime_type=mime_type, size=size)


def place_component(platform: str, kind: str, data: Payload, *facts: str) -> Platform:
    """Returns a component with a readable form, such as `[location: Main Street]`."""
    shown = " ".join(filter(None, facts))[:500]
    return Platform(
        platform=platform, component_type=kind, data=data, text=f"[{kind}: {shown}]" if shown else f"[{kind}]"
    )


async def fetch_file(client: ErrcodeClient, media_id: str, max_bytes: int = 20 * MIB) -> dict[str, Any]:
    """Returns the keys that a message with a file gets: the content, or the reason why there is none."""
    try:
        response = await client.download(media_id, max_bytes)
    except (PlatformRefused, PlatformUncertain) as error:
        return {PROBLEM: str(error)}
    return file_keys(response, response.body)


def file_keys(response: ApiResponse, content: bytes, name: str = "") -> dict[str, Any]:
    """Returns the keys that a message with a file gets for its content, which the response may have encrypted."""
    mime_type = response.headers.get("Content-Type", "").partition(";")[0]
    known_type = "" if mime_type in ("application/octet-stream", "") else mime_type
    return {
        CONTENT: base64.b64encode(content).decode(), FILE_NAME: name or _file_name(response), FILE_TYPE: known_type,
    }  # fmt: skip


def _file_name(response: ApiResponse) -> str:
    """Returns the name in Content-Disposition: the encoded one, or the plain one as UTF-8."""
    disposition = response.headers.get("Content-Disposition", "")
    for part in disposition.split(";"):
        name, _, value = part.strip().partition("=")
        if name.lower() == "filename*" and "''" in value:
            return unquote(value.partition("''")[2])[:200]
    for part in disposition.split(";"):
        name, _, value = part.strip().partition("=")
        if name.lower() == "filename":
            return unquote(value.strip('"'))[:200]
    return ""


def with_leading_texts(parts: list[WechatPart], needs_text: Callable[[WechatPart], bool]) -> list[WechatPart]:
    """Returns the messages to send: a text that is too long for its buttons precedes them."""
    messages: list[WechatPart] = []
    for part in parts:
        if part.buttons and needs_text(part):
            messages.append(WechatPart(text=part.text))
        messages.append(part)
    return messages
