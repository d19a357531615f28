"""Converts a chain into messages of Slack, in order: texts in its own markup, blocks, and files with a comment."""

from dataclasses import field

from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.buttons import Button, read_buttons, require_short_data
from parlour.platforms._kit.outgoing_files import Fetch, OutgoingFile, read_file
from parlour.platforms._kit.payloads import Payload
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
    Unknown,
)
from parlour_sdk.values import dataclass

from .decode import OWN_ACTION
from .entities import NAME, SERVICE
from .mrkdwn import escape, from_markdown

MAX_FILE_BYTES = 50 * 1024 * 1024
MAX_SECTION_CHARACTERS = 3000
MAX_BLOCKS = 50
MAX_BUTTONS = 25
MAX_VALUE_BYTES = 2000
MAX_LABEL_CHARACTERS = 75


@dataclass(slots=True)
class SlackMessage:
    """One message to send."""

    text: str = ""
    blocks: list[Payload] = field(default_factory=list)
    files: list[OutgoingFile] = field(default_factory=list)

    @property
    def is_blank(self) -> bool:
        return not (self.text.strip() or self.blocks or self.files)

    def content(self) -> Payload:
        """Returns the parameters of a message without files. With blocks, Slack shows the text only in notices."""
        if not self.blocks:
            return {"text": self.text}
        sections = [_section(part) for part in _cut(self.text)] if self.text.strip() else []
        blocks = [*sections, *self.blocks]
        if len(blocks) > MAX_BLOCKS:
            raise PlatformRefused(f"Slack shows at most {MAX_BLOCKS} blocks in a message", permanent=True)
        return {"text": self.text or " ", "blocks": blocks}


async def encode(chain: MessageChain, fetch: Fetch) -> list[SlackMessage]:
    """Encodes a chain; the result is empty if there is nothing to send. Buttons go to the last message."""
    messages, buttons = [SlackMessage()], list[Payload]()
    for component in chain:
        last = messages[-1]
        match component:
            case Media() if not component.url:
                file = await read_file(component, fetch, MAX_FILE_BYTES, SERVICE)
                if last.blocks:
                    messages.append(SlackMessage())
                messages[-1].files.append(file)
            case Platform(component_type="buttons"):
                buttons = _buttons(component)
            case Platform(platform=platform, component_type="block", data=data) if platform == NAME:
                if last.files:
                    messages.append(SlackMessage())
                messages[-1].blocks.append(dict(data))
            case _:
                if last.files or last.blocks:
                    messages.append(SlackMessage())
                messages[-1].text += component_text(component)
    shown = [each for each in messages if not each.is_blank]
    if shown and buttons:
        if shown[-1].files:
            shown.append(SlackMessage())
        shown[-1].blocks += buttons
    return shown


def component_text(component: Component) -> str:
    """Returns a component as text in Slack's markup. Only mentions of the chain notify users."""
    match component:
        case Plain():
            return from_markdown(component.text)
        case At():
            return f"<@{component.target}>" if component.target.isalnum() else escape(f"@{component.target}")
        case AtAll():
            return "<!channel>"
        case Unknown():
            return escape(component.text)
        case Media():
            return escape(component.url or "")  # Slack shows a preview of it
        case Face():
            return escape(f":{component.name or component.id}:")
        case Forward():
            nodes = [(node.name or node.sender or "?", node.chain) for node in component.nodes]
            return "".join(f"*{escape(name)}:* {''.join(map(component_text, chain))}\n" for name, chain in nodes)
        case Platform():
            return escape(component.text or f"[{component.component_type}]")
    return ""


def _cut(text: str) -> list[str]:
    return [text[first : first + MAX_SECTION_CHARACTERS] for first in range(0, len(text), MAX_SECTION_CHARACTERS)]


def _section(text: str) -> Payload:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def _buttons(component: Platform) -> list[Payload]:
    """Builds a block of buttons for each row. Slack demands different action ids, so the actual ones are in values."""
    blocks, number = [], 0
    for row in read_buttons(component.data):
        if len(row) > MAX_BUTTONS:
            raise PlatformRefused(f"Slack shows at most {MAX_BUTTONS} buttons in a row", permanent=True)
        elements = []
        for button in row:
            elements.append(_button(button, number))
            number += 1
        blocks.append({"type": "actions", "elements": elements})
    return blocks


def _button(button: Button, number: int) -> Payload:
    label = {"type": "plain_text", "text": button.label[:MAX_LABEL_CHARACTERS]}
    shown: Payload = {"type": "button", "text": label, "action_id": f"{OWN_ACTION}{number}"}
    if button.url:
        return {**shown, "url": button.url}
    return {**shown, "value": require_short_data(button, MAX_VALUE_BYTES, SERVICE)}
