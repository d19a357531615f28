"""Converts a chain into messages of LINE, in order. LINE fetches files itself, from an address that it can reach."""

from collections.abc import Callable, Sequence
from dataclasses import field

from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.buttons import Button, read_buttons, require_short_data
from parlour.platforms._kit.ids import split_id
from parlour.platforms._kit.outgoing_files import Fetch, OutgoingFile, read_file
from parlour.platforms._kit.payloads import Payload
from parlour.platforms._kit.public_files import PublicFiles
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

from .entities import EMOJI, NAME, SERVICE, STICKER

MAX_FILE_BYTES = 200 * 1024 * 1024
MAX_IMAGE_BYTES = 10 * 1024 * 1024
MAX_DATA_BYTES, MAX_LABEL_CHARACTERS, MAX_BUTTONS = 250, 20, 12
MAX_FLEX_TEXT_CHARACTERS, MAX_ALTERNATIVE_CHARACTERS = 2000, 400
DEFAULT_AUDIO_MILLISECONDS = 60_000
"""Length that is shown for audio whose length is not known; LINE requires one."""
IMAGE_TYPES = ("image/jpeg", "image/png")
FILE_TYPES = {"Image": IMAGE_TYPES, "Video": ("video/mp4",), "Voice": ("audio/mpeg", "audio/mp4")}
VIDEO_PREVIEW = OutgoingFile(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763606060"
        "000000040001f61738550000000049454e44ae426082"
    ),
    "preview.png",
    "image/png",
)
"""A black pixel: LINE requires a picture that stands for a film."""


@dataclass(slots=True)
class _Draft:
    """Text with its substitutions, until another kind of message follows."""

    text: str = ""
    substitution: dict[str, Payload] = field(default_factory=dict)

    def message(self) -> Payload:
        if not self.substitution:
            return {"type": "text", "text": self.text.replace("{{", "{").replace("}}", "}")}
        return {"type": "textV2", "text": self.text, "substitution": self.substitution}

    def add(self, component: Component) -> bool:
        """Adds a component that is a part of a text. Returns false for any other."""
        match component:
            case At(target=target) if target.startswith("U"):
                self._substitute({"type": "mention", "mentionee": {"type": "user", "userId": target}})
            case AtAll():
                self._substitute({"type": "mention", "mentionee": {"type": "all"}})
            case Face(id=face) if face.startswith(EMOJI):
                _, product_id, emoji_id = _face(face)
                self._substitute({"type": "emoji", "productId": product_id, "emojiId": emoji_id})
            case _:
                content = component_text(component)
                if content is None:
                    return False
                self.text += content.replace("{", "{{").replace("}", "}}")
        return True

    def _substitute(self, value: Payload) -> None:
        name = f"p{len(self.substitution)}"
        self.substitution[name] = value
        self.text += f"{{{name}}}"


class LineEncoder:
    """Encodes the messages of one bot. `quote_token` returns LINE's token for quoting a message, if it is known."""

    def __init__(self, files: PublicFiles, fetch: Fetch, quote_token: Callable[[str], str | None]) -> None:
        self._files = files
        self._fetch = fetch
        self._quote_token = quote_token

    async def encode(self, chain: MessageChain, can_mention: bool, buttons_id: str = "") -> list[Payload]:
        """Returns the messages for a chain; empty if there is nothing to send. Mentions exist only in groups. The
        data of each button names `buttons_id`, the id of the message.
        """
        messages: list[Payload] = []
        draft, buttons, quoted = _Draft(), list[Button](), None
        for component in chain if can_mention else _without_mentions(chain):
            match component:
                case Quote(id=message_id):
                    quoted = self._quote_token(message_id) if message_id else None
                    continue
                case Platform(component_type="buttons"):
                    buttons = [each for row in read_buttons(component.data) for each in row]
                    continue
            if draft.add(component):
                continue
            if draft.text.strip():
                messages.append(draft.message())
            draft = _Draft()
            messages.append(await self._message(component))
        if draft.text.strip():
            messages.append(draft.message())
        if buttons:
            messages = _with_buttons(messages, buttons, buttons_id)
        if quoted:
            first = next((each for each in messages if each["type"] in ("text", "textV2", "sticker")), {})
            first["quoteToken"] = quoted
        return messages

    async def _message(self, component: Component) -> Payload:
        match component:
            case Media():
                return await self._file(component)
            case Face(id=face):
                _, package_id, sticker_id = _face(face)
                return {"type": "sticker", "packageId": package_id, "stickerId": sticker_id}
            case Platform(component_type="location", data=data):
                return {"type": "location", "title": "-", "address": "-", **data}
            case Platform(data=data):
                return {"type": "flex", "altText": "-", **data}
        raise PlatformRefused("this kind of component has no message on LINE", permanent=True)

    async def _file(self, media: Media) -> Payload:
        """Returns the message of a file, or a text if LINE can't show it."""
        kind = media.type
        if media.url:
            address, data_bytes = media.url, 0
        else:
            file = await read_file(media, self._fetch, MAX_FILE_BYTES, SERVICE)
            address, data_bytes = self._address(file, media), len(file.data)
            if kind not in FILE_TYPES or file.mime_type not in FILE_TYPES[kind]:
                return {"type": "text", "text": f"[{file.name}]"}
        if kind == "Image" and data_bytes > MAX_IMAGE_BYTES:
            raise PlatformRefused(f"LINE shows pictures of up to {MAX_IMAGE_BYTES // 2**20} MiB", permanent=True)
        if not address.startswith("https://"):
            return {"type": "text", "text": media.url or f"[{media.name or kind}: {self._unreachable}]"}
        match media:
            case Image():
                return {"type": "image", "originalContentUrl": address, "previewImageUrl": address}
            case Video():
                preview = self._files.address(VIDEO_PREVIEW) if self._files.base_url.startswith("https://") else address
                return {"type": "video", "originalContentUrl": address, "previewImageUrl": preview}
            case Voice(duration=seconds):
                length = round(seconds * 1000) if seconds else DEFAULT_AUDIO_MILLISECONDS
                return {"type": "audio", "originalContentUrl": address, "duration": length}
        return {"type": "text", "text": address}

    def _address(self, file: OutgoingFile, media: Media) -> str:
        return self._files.address(file, media.artifact_id or "") if self._files.base_url else ""

    @property
    def _unreachable(self) -> str:
        return "LINE can't fetch files from this Host, whose public address is not known"


def component_text(component: Component) -> str | None:
    """Returns a component as text; None if it is a message of its own."""
    match component:
        case Plain() | Unknown():
            return component.text
        case At():
            return f"@{component.display or component.target}"
        case Face(id=face):
            return None if face.startswith(STICKER) else f"[{component.name or face}]"
        case File():
            return component.url or f"[{component.name or 'a file'}]"
        case Forward():
            nodes = ((node.name or node.sender or "?", node.chain) for node in component.nodes)
            return "".join(
                f"{name}: {''.join(component_text(each) or '' for each in chain)}\n" for name, chain in nodes
            )
        case Platform(platform=platform, component_type=kind):
            is_own = platform == NAME and kind in ("location", "flex")
            return None if is_own else component.text or f"[{kind}]"
        case Media():
            return None
    return ""


def _without_mentions(chain: MessageChain) -> Sequence[Component]:
    return [
        Plain(text=f"@{each.display or each.target} ") if isinstance(each, At) else each
        for each in chain
        if not isinstance(each, AtAll)
    ]


def _with_buttons(messages: list[Payload], buttons: list[Button], buttons_id: str) -> list[Payload]:
    """Puts the buttons below the last text, in one message."""
    if len(buttons) > MAX_BUTTONS:
        raise PlatformRefused(f"LINE shows at most {MAX_BUTTONS} buttons in a message", permanent=True)
    content = str(messages[-1].get("text", "")) if messages and messages[-1]["type"] == "text" else ""
    kept = messages
    if content and len(content) <= MAX_FLEX_TEXT_CHARACTERS:
        kept = messages[:-1]
    else:
        content = "…"
    body = {"type": "box", "layout": "vertical", "contents": [{"type": "text", "text": content, "wrap": True}]}
    footer = {
        "type": "box",
        "layout": "vertical",
        "spacing": "sm",
        "contents": [_button(each, buttons_id) for each in buttons],
    }
    bubble = {"type": "bubble", "body": body, "footer": footer}
    return [*kept, {"type": "flex", "altText": content[:MAX_ALTERNATIVE_CHARACTERS], "contents": bubble}]


def _button(button: Button, buttons_id: str) -> Payload:
    label = button.label[:MAX_LABEL_CHARACTERS]
    if button.url:
        action: Payload = {"type": "uri", "label": label, "uri": button.url}
    else:
        data = f"{buttons_id}\n{require_short_data(button, MAX_DATA_BYTES, SERVICE)}"
        action = {"type": "postback", "label": label, "data": data, "displayText": label}
    return {"type": "button", "style": "secondary", "height": "sm", "action": action}


def _face(face: str) -> tuple[str, ...]:
    try:
        return split_id(face, 3)
    except ValueError:
        reason = f"'{face[:60]}' is no sticker of LINE; it is named as {STICKER}|package|sticker"
        raise PlatformRefused(reason, permanent=True) from None
