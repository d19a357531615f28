"""Converts a chain into messages of WhatsApp, in order: texts, files, places, contacts, and one with buttons."""

from html import escape, unescape

from parlour.core.delivery.rendering.text_formatter import has_markup
from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.buttons import BUTTONS_COMPONENT, Button, read_buttons, require_short_data
from parlour.platforms._kit.chat_markup import convert_markdown
from parlour.platforms._kit.outgoing_files import OutgoingFile
from parlour.platforms._kit.payloads import Payload
from parlour_sdk.protocol.chain import (
    At,
    AtAll,
    Component,
    Face,
    File,
    Forward,
    Media,
    MessageChain,
    Plain,
    Platform,
    Quote,
    Unknown,
)

from .entities import MAX_TEXT_CHARACTERS, NAME, SERVICE

MAX_BODY_CHARACTERS, MAX_TITLE_CHARACTERS, MAX_ROW_CHARACTERS = 1024, 20, 24
MAX_BUTTONS, MAX_ROWS, MAX_DATA_BYTES = 3, 10, 200
LIST_LABEL = "…"
"""What opens a list; WhatsApp wants a label, and this one needs no translation."""
MEBIBYTE = 1024 * 1024
KINDS = {
    "Image": ("image", 5 * MEBIBYTE, ("image/jpeg", "image/png")),
    "Video": ("video", 16 * MEBIBYTE, ("video/mp4", "video/3gpp")),
    "Voice": ("audio", 16 * MEBIBYTE, ("audio/aac", "audio/mp4", "audio/mpeg", "audio/amr", "audio/ogg")),
}
"""What WhatsApp shows as a picture, film or sound; other files are documents."""
MAX_DOCUMENT_BYTES = 100 * MEBIBYTE
PLACES = ("location", "contacts")
Part = Payload | Media
"""A message of WhatsApp, or a file that has to be uploaded for one."""


def plan(chain: MessageChain) -> tuple[list[Part], str]:
    """Returns the messages for a chain, and the id of the message that they answer; no messages if nothing is shown."""
    parts: list[Part] = []
    text, quoted, buttons = "", "", list[Button]()
    for component in chain:
        match component:
            case Quote(id=message_id):
                quoted = message_id or quoted
            case Platform(component_type=kind) if kind == BUTTONS_COMPONENT:
                buttons += [each for row in read_buttons(component.data) for each in row]
            case Media() if not (component.url or "").startswith("http://"):
                parts += _texts(text)
                text = ""
                parts.append(_linked(component) if component.url else component)
            case Platform(platform=platform, component_type=kind) if platform == NAME and kind in PLACES:
                parts += _texts(text)
                text = ""
                parts.append(_place(component))
            case _:
                text += component_text(component)
    parts += _texts(text)
    return (_with_buttons(parts, buttons) if buttons else parts), quoted


def file_message(component: Media, file: OutgoingFile, media_id: str) -> Payload:
    """Returns the message that shows an uploaded file."""
    kind = file_kind(component, file)
    content = {"id": media_id, **({"filename": file.name} if kind == "document" else {})}
    return {"type": kind, kind: content}


def file_kind(component: Media, file: OutgoingFile) -> str:
    """Returns how WhatsApp shows a file. Raises PlatformRefused if it is too large even for a document."""
    kind, max_bytes, types = KINDS.get(component.type, ("document", MAX_DOCUMENT_BYTES, ()))
    if file.mime_type.partition(";")[0] in types and len(file.data) <= max_bytes:
        return kind
    return "document"


def component_text(component: Component) -> str:
    """Returns a component as text with WhatsApp's own signs."""
    match component:
        case Plain():
            return from_markdown(component.text)
        case At():
            return f"@{component.display or component.target} "
        case AtAll():
            return "@all "
        case Unknown():
            return component.text
        case Media():
            return component.url or ""
        case Face():
            return component.name or f"[{component.id}]"
        case Forward():
            nodes = [(node.name or node.sender or "?", node.chain) for node in component.nodes]
            return "".join(f"*{name}:* {''.join(map(component_text, chain))}\n" for name, chain in nodes)
        case Platform():
            return component.text or f"[{component.component_type}]"
    return ""


def from_markdown(text: str) -> str:
    if not has_markup(text):
        return text
    return unescape(convert_markdown(text, _link))


def _link(address: str, label: str) -> str:
    """Shows the address of a link behind its label; WhatsApp makes a link of it."""
    shown = escape(address, quote=False)
    return shown if label in (shown, shown.removeprefix("mailto:")) else f"{label} ({shown})"


def _texts(text: str) -> list[Part]:
    """Returns a text as messages; converting can make it a little longer than the limit."""
    if not text.strip():
        return []
    pieces = (text[first : first + MAX_TEXT_CHARACTERS] for first in range(0, len(text), MAX_TEXT_CHARACTERS))
    return [{"type": "text", "text": {"body": piece}} for piece in pieces if piece.strip()]


def _linked(component: Media) -> Payload:
    """Returns the message for a file that WhatsApp fetches itself."""
    kind = "document" if isinstance(component, File) else KINDS[component.type][0]
    name = {"filename": component.name} if kind == "document" and component.name else {}
    return {"type": kind, kind: {"link": component.url, **name}}


def _place(component: Platform) -> Payload:
    kind = component.component_type
    return {"type": kind, kind: component.data.get("contacts", []) if kind == "contacts" else component.data}


def _with_buttons(parts: list[Part], buttons: list[Button]) -> list[Part]:
    """Puts the buttons below the last text, in one message; addresses become lines of text unless there is only one."""
    last = parts[-1] if parts else {}
    body = last["text"]["body"] if isinstance(last, dict) and last.get("type") == "text" else ""
    links, pressed = [each for each in buttons if each.url], [each for each in buttons if not each.url]
    if pressed:
        body = "\n".join(filter(None, (body, *(f"{each.label}: {each.url}" for each in links))))
    kept = parts[:-1] if parts and body and isinstance(last, dict) and last.get("type") == "text" else parts
    if len(body) > MAX_BODY_CHARACTERS:
        kept, body = [*kept, *_texts(body)], ""
    shown = {"body": {"text": body or "…"}}
    if not pressed and len(links) == 1:
        parameters = {"display_text": links[0].label[:MAX_TITLE_CHARACTERS], "url": links[0].url}
        return [*kept, _interactive("cta_url", shown, {"name": "cta_url", "parameters": parameters})]
    if not pressed:
        lines = "\n".join(f"{each.label}: {each.url}" for each in links)
        return [*kept, *_texts(f"{body}\n{lines}".strip())]
    if len(pressed) > MAX_ROWS:
        raise PlatformRefused(f"WhatsApp shows at most {MAX_ROWS} buttons in a message", permanent=True)
    if len(pressed) <= MAX_BUTTONS and len({each.label[:MAX_TITLE_CHARACTERS] for each in pressed}) == len(pressed):
        replies = [{"type": "reply", "reply": _choice(each, MAX_TITLE_CHARACTERS)} for each in pressed]
        return [*kept, _interactive("button", shown, {"buttons": replies})]
    rows = [_choice(each, MAX_ROW_CHARACTERS) for each in pressed]
    return [
        *kept,
        _interactive("list", shown, {"button": LIST_LABEL, "sections": [{"title": LIST_LABEL, "rows": rows}]}),
    ]


def _choice(button: Button, max_characters: int) -> Payload:
    return {"id": require_short_data(button, MAX_DATA_BYTES, SERVICE), "title": button.label[:max_characters]}


def _interactive(kind: str, shown: Payload, action: Payload) -> Payload:
    return {"type": "interactive", "interactive": {"type": kind, **shown, "action": action}}
