"""Converts a chain into messages of KOOK, in order. A message is text, a card, or one file."""

from dataclasses import field

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

from .decode import AUDIO, CARD, FILE, IMAGE, KMARKDOWN, VIDEO
from .entities import NAME, SERVICE
from .kmarkdown import escape_tags

MAX_FILE_BYTES = 25 * 1024 * 1024
MAX_CARDS = 5
MAX_ROW_BUTTONS = 4
_KINDS: dict[type[Media], int] = {Image: IMAGE, Video: VIDEO, Voice: AUDIO, File: FILE}


@dataclass(slots=True)
class KookMessage:
    """One message to send. A file is uploaded first, and its address is the content then."""

    kind: int
    content: str = ""
    file: OutgoingFile | None = None
    cards: list[Payload] = field(default_factory=list)

    def payload(self) -> str:
        return dumps(self.cards) if self.kind == CARD else self.content


async def encode(chain: MessageChain, fetch: Fetch) -> tuple[list[KookMessage], str]:
    """Encodes a chain into messages and the id of the message that it answers. Buttons go below the last text."""
    messages, quote, buttons = list[KookMessage](), "", list[Payload]()
    for component in chain:
        match component:
            case Quote():
                quote = component.id or quote
            case Media() if not component.url:
                file = await read_file(component, fetch, MAX_FILE_BYTES, SERVICE)
                messages.append(KookMessage(_KINDS[type(component)], file=file))
            case Platform(component_type="buttons"):
                buttons = _button_modules(component)
            case Platform(platform=platform, component_type="card", data=data) if platform == NAME:
                if not (messages and messages[-1].kind == CARD and len(messages[-1].cards) < MAX_CARDS):
                    messages.append(KookMessage(CARD))
                messages[-1].cards.append(dict(data))
            case _:
                text = component_text(component)
                if not (messages and messages[-1].kind == KMARKDOWN):
                    messages.append(KookMessage(KMARKDOWN))
                messages[-1].content += text
    shown = [each for each in messages if each.kind != KMARKDOWN or each.content.strip()]
    if shown and buttons:
        text = shown.pop().content if shown[-1].kind == KMARKDOWN else "⬆️"
        section: Payload = {"type": "section", "text": {"type": "kmarkdown", "content": text}}
        card: Payload = {"type": "card", "theme": "secondary", "size": "lg", "modules": [section, *buttons]}
        shown.append(KookMessage(CARD, cards=[card]))
    return shown, quote


def component_text(component: Component) -> str:
    """Returns a component as KMarkdown. Only mentions of the chain notify users."""
    match component:
        case Plain() | Unknown():
            return escape_tags(component.text)
        case At():
            return (
                f"(met){component.target}(met)" if component.target.isalnum() else escape_tags(f"@{component.target}")
            )
        case AtAll():
            return "(met)all(met)"
        case Face():
            return f"(emj){component.name or component.id}(emj)[{component.id}]"
        case Media():
            return component.url or ""
        case Forward():
            nodes = [(node.name or node.sender or "?", node.chain) for node in component.nodes]
            return "".join(f"**{escape_tags(name)}:** {''.join(map(component_text, chain))}\n" for name, chain in nodes)
        case Platform():
            return escape_tags(component.text or f"[{component.component_type}]")
    return ""


def _button_modules(component: Platform) -> list[Payload]:
    modules: list[Payload] = []
    for row in read_buttons(component.data):
        for first in range(0, len(row), MAX_ROW_BUTTONS):
            elements = [_button(each) for each in row[first : first + MAX_ROW_BUTTONS]]
            modules.append({"type": "action-group", "elements": elements})
    if len(modules) > 40:
        raise PlatformRefused("KOOK shows at most 160 buttons in a message", permanent=True)
    return modules


def _button(button: Button) -> Payload:
    shown: Payload = {"type": "button", "theme": "primary", "text": button.label}
    if button.url:
        return {**shown, "click": "link", "value": button.url}
    return {**shown, "click": "return-val", "value": button.data}
