"""Converts a chain into messages of Lark, in order: texts, rich texts, cards, and files that are uploaded first."""

import re
from dataclasses import field

from parlour.core.delivery.rendering.text_formatter import has_markup
from parlour.core.encoding import dumps
from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.buttons import Button, read_buttons
from parlour.platforms._kit.outgoing_files import Fetch, OutgoingFile, read_file
from parlour.platforms._kit.payloads import Payload
from parlour_sdk.protocol.chain import (
    At,
    AtAll,
    Component,
    Face,
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

from .decode import BUTTON, FEEDBACK
from .entities import NAME, SERVICE

TEXT, POST, CARD, IMAGE, FILE, AUDIO, MEDIA = "text", "post", "interactive", "image", "file", "audio", "media"
MAX_FILE_BYTES = 30 * 1024 * 1024
MAX_IMAGE_BYTES = 10 * 1024 * 1024
MAX_BUTTONS = 100
TEXT_ELEMENT = "md_1"
"""The id of the element of a card that has the text of an answer."""
_MENTION = re.compile(r"<(?=/?at\b)", re.IGNORECASE)
_OPUS = ("audio/ogg", "audio/opus")


@dataclass(slots=True)
class LarkMessage:
    """One message to send: its parts in rows, a card, or a file, which is uploaded first."""

    kind: str
    content: Payload = field(default_factory=dict)
    file: OutgoingFile | None = None
    components: list[Component] = field(default_factory=list)

    def payload(self) -> str:
        return dumps(self.content)


async def encode(chain: MessageChain, fetch: Fetch) -> tuple[list[LarkMessage], str]:
    """Encodes a chain into messages and the id of the message that it answers. Buttons go below the last text."""
    messages, quote, buttons = list[LarkMessage](), "", list[Payload]()
    for component in chain:
        match component:
            case Quote():
                quote = component.id or quote
            case Media() if not component.url:
                messages.append(await _file(component, fetch))
            case Platform(component_type="buttons"):
                buttons = _button_elements(component)
            case Platform(platform=platform, component_type="card", data=data) if platform == NAME:
                messages.append(LarkMessage(CARD, dict(data)))
            case _:
                if not (messages and messages[-1].kind == TEXT):
                    messages.append(LarkMessage(TEXT))
                messages[-1].components.append(component)
    shown = [each for each in messages if each.kind != TEXT or _is_visible(each)]
    if shown and buttons:
        last = shown.pop() if shown[-1].kind == TEXT else LarkMessage(TEXT, components=[Plain(text="⬆️")])
        shown.append(LarkMessage(CARD, card(card_text(last.components), buttons)))
    for each in shown:
        if each.kind == TEXT:
            _write_text(each)
    return shown, quote


def card(markdown: str, buttons: list[Payload] | None = None, is_streaming: bool = False) -> Payload:
    """Returns a card with a text and buttons."""
    config: Payload = {"update_multi": True}
    if is_streaming:
        timing = {"print_frequency_ms": {"default": 50}, "print_step": {"default": 5}, "print_strategy": "fast"}
        config |= {"streaming_mode": True, "summary": {"content": ""}, "streaming_config": timing}
    element = {"tag": "markdown", "content": markdown, "element_id": TEXT_ELEMENT}
    return {"schema": "2.0", "config": config, "body": {"elements": [element, *(buttons or [])]}}


def feedback_buttons(labels: tuple[str, str]) -> list[Payload]:
    """Returns the buttons with which a user rates an answer."""
    return [_columns([_button(label, {FEEDBACK: kind}, "text") for kind, label in enumerate(labels, 1)])]


def card_text(chain: MessageChain) -> str:
    """Returns components as the Markdown of a card. Only mentions of the chain notify users."""
    return "".join(map(_card_component, chain))


def _card_component(component: Component) -> str:
    match component:
        case At():
            return f"<at id={_id(component.target)}></at>"
        case AtAll():
            return "<at id=all></at>"
    return escape_mentions(_text(component))


def escape_mentions(markdown: str) -> str:
    """Breaks the tags of mentions in a text, so that a model can't mention anyone. Markdown stays as it is."""
    return _MENTION.sub("&#60;", markdown)


def _is_visible(message: LarkMessage) -> bool:
    return any(isinstance(each, At | AtAll) or _text(each).strip() for each in message.components)


def _write_text(message: LarkMessage) -> None:
    """Writes a plain text if it has no markup, otherwise a rich text."""
    if not any(has_markup(_text(each)) for each in message.components):
        message.content = {"text": "".join(map(_text_component, message.components))}
        return
    parts = [
        _text_component(each) if isinstance(each, At | AtAll) else escape_mentions(_text(each))
        for each in message.components
    ]
    message.kind = POST
    message.content = {"zh_cn": {"title": "", "content": [[{"tag": "md", "text": "".join(parts)}]]}}


def _text_component(component: Component) -> str:
    match component:
        case At():
            name = (component.display or "").replace("<", "").replace(">", "")
            return f'<at user_id="{_id(component.target)}">{name}</at>'
        case AtAll():
            return '<at user_id="all"></at>'
    return _text(component)


def _id(target: str) -> str:
    return "".join(each for each in target if each.isalnum() or each in "_-")


def _text(component: Component) -> str:
    """Returns a component that is no mention as text."""
    match component:
        case Plain() | Unknown():
            return component.text
        case Media():
            return component.url or ""
        case Face():
            return f"[{component.name or component.id}]"
        case Forward():
            nodes = [(node.name or node.sender or "?", node.chain) for node in component.nodes]
            return "".join(f"**{name}:** {''.join(map(_text, chain))}\n" for name, chain in nodes)
        case Platform():
            return component.text or f"[{component.component_type}]"
    return ""


async def _file(media: Media, fetch: Fetch) -> LarkMessage:
    """Reads a file. Lark plays only Opus and MP4; other sounds and films are shown as files."""
    is_image = isinstance(media, Image)
    file = await read_file(media, fetch, MAX_IMAGE_BYTES if is_image else MAX_FILE_BYTES, SERVICE)
    if not file.data:
        raise PlatformRefused("Lark takes no empty files", permanent=True)
    kind = FILE
    if is_image:
        kind = IMAGE
    elif isinstance(media, Voice) and file.mime_type.partition(";")[0] in _OPUS:
        kind = AUDIO
    elif isinstance(media, Video) and file.mime_type == "video/mp4":
        kind = MEDIA
    duration = getattr(media, "duration", None)
    return LarkMessage(kind, {"duration": round(duration * 1000)} if duration else {}, file)


def _button_elements(component: Platform) -> list[Payload]:
    rows = read_buttons(component.data)
    if sum(map(len, rows)) > MAX_BUTTONS:
        raise PlatformRefused(f"Lark shows at most {MAX_BUTTONS} buttons in a message", permanent=True)
    return [_columns([_own_button(each) for each in row]) for row in rows]


def _own_button(button: Button) -> Payload:
    if button.url:
        shown = _button(button.label, {}, "default")
        return {**shown, "behaviors": [{"type": "open_url", "default_url": button.url}]}
    return _button(button.label, {BUTTON: button.data}, "default")


def _button(label: str, value: Payload, style: str) -> Payload:
    callback = {"type": "callback", "value": value}
    return {"tag": "button", "text": {"tag": "plain_text", "content": label}, "type": style, "behaviors": [callback]}


def _columns(buttons: list[Payload]) -> Payload:
    columns = [{"tag": "column", "width": "auto", "elements": [each]} for each in buttons]
    return {"tag": "column_set", "flex_mode": "flow", "columns": columns}
