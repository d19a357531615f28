"""Converts a chain into messages of Discord, in order.

A message shows its text, then its files, then embeds and stickers. What does not fit behind that begins another one.
"""

from dataclasses import field
from typing import Any

from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.buttons import BUTTONS_COMPONENT, Button, read_buttons, require_short_data
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
    Quote,
    Unknown,
)
from parlour_sdk.values import dataclass

from .entities import NAME, SERVICE, message_place

MAX_FILES = 10
MAX_FILE_BYTES = 10 * 1024 * 1024
MAX_EMBEDS = 10
MAX_STICKERS = 3
MAX_CUSTOM_ID_BYTES = 100
MAX_BUTTON_ROWS, MAX_ROW_BUTTONS = 5, 5
ACTION_ROW, BUTTON = 1, 2
SECONDARY, LINK = 2, 5
"""Styles of buttons."""
_TEXT, _FILES, _EMBEDS, _STICKERS = range(4)


@dataclass(slots=True)
class DiscordMessage:
    """One message to send."""

    text: str = ""
    files: list[OutgoingFile] = field(default_factory=list)
    embeds: list[Payload] = field(default_factory=list)
    stickers: list[str] = field(default_factory=list)
    users: list[str] = field(default_factory=list)
    """Users that are mentioned, and notified."""
    everyone: bool = False
    quote: str = ""
    components: list[Payload] = field(default_factory=list)

    @property
    def stage(self) -> int:
        """The last part of the message that has content."""
        if self.stickers:
            return _STICKERS
        if self.embeds:
            return _EMBEDS
        return _FILES if self.files else _TEXT

    @property
    def is_blank(self) -> bool:
        return not (self.text.strip() or self.files or self.embeds or self.stickers)

    def body(self) -> Payload:
        """Returns the body of the call. Only the mentions of the chain notify users, never those in its text."""
        parse = ["everyone"] if self.everyone else []
        body: Payload = {
            "allowed_mentions": {"parse": parse, "users": list(dict.fromkeys(self.users)), "replied_user": False}
        }
        if self.text.strip():
            body["content"] = self.text
        if self.embeds:
            body["embeds"] = self.embeds
        if self.stickers:
            body["sticker_ids"] = self.stickers
        if self.files:
            body["attachments"] = [{"id": place, "filename": each.name} for place, each in enumerate(self.files)]
        if self.components:
            body["components"] = self.components
        if self.quote:
            _, native_id = message_place("0", self.quote)
            body["message_reference"] = {"message_id": native_id, "fail_if_not_exists": False}
        return body


@dataclass(slots=True)
class _Assembly:
    messages: list[DiscordMessage] = field(default_factory=lambda: [DiscordMessage()])

    def at(self, stage: int) -> DiscordMessage:
        """Returns the message that the next content of this stage belongs to."""
        current = self.messages[-1]
        is_full = (
            current.stage > stage
            or (stage == _FILES and len(current.files) >= MAX_FILES)
            or (stage == _EMBEDS and len(current.embeds) >= MAX_EMBEDS)
            or (stage == _STICKERS and len(current.stickers) >= MAX_STICKERS)
        )
        if is_full:
            self.messages.append(DiscordMessage())
        return self.messages[-1]


async def encode(chain: MessageChain, fetch: Fetch) -> list[DiscordMessage]:
    """Encodes a chain; the result is empty if there is nothing to send.

    The quote goes to the first message, buttons to the last.
    """
    assembly, quote, components = _Assembly(), "", list[Payload]()
    for component in chain:
        match component:
            case Quote():
                quote = component.id or quote
            case Media() if not component.url:
                file = await read_file(component, fetch, MAX_FILE_BYTES, SERVICE)
                assembly.at(_FILES).files.append(file)
            case Platform(component_type="buttons"):
                components = _button_rows(component)
            case Platform(platform=platform, component_type="embed", data=data) if platform == NAME:
                assembly.at(_EMBEDS).embeds.append(dict(data))
            case Platform(platform=platform, component_type="sticker", data=data) if platform == NAME:
                assembly.at(_STICKERS).stickers.append(str(data.get("id")))
            case _:
                _add_text(component, assembly.at(_TEXT))
    messages = [each for each in assembly.messages if not each.is_blank]
    if messages:
        messages[0].quote = quote
        messages[-1].components = components
    return messages


def _add_text(component: Component, message: DiscordMessage) -> None:
    match component:
        case At():
            if component.target.isdecimal():
                message.users.append(component.target)
            message.text += f"<@{component.target}>" if component.target.isdecimal() else f"@{component.target}"
        case AtAll():
            message.everyone = True
            message.text += "@everyone"
        case Face():
            message.text += f"<{component.id}>" if component.id.startswith("a:") else f"<:{component.id}>"
        case Forward():
            for node in component.nodes:
                message.text += f"**{node.name or node.sender or '?'}:** "
                for each in node.chain:
                    _add_text(each, message)
                message.text += "\n"
        case Plain() | Unknown():
            message.text += component.text
        case Media():
            message.text += component.url or ""  # Discord shows a preview of it
        case Platform():
            message.text += component.text or f"[{component.component_type}]"


def _button_rows(component: Platform) -> list[Payload]:
    """Builds the rows of buttons. A row with too many continues in the next one."""
    rows = [
        row[first : first + MAX_ROW_BUTTONS]
        for row in read_buttons(component.data)
        for first in range(0, len(row), MAX_ROW_BUTTONS)
    ]
    if len(rows) > MAX_BUTTON_ROWS:
        raise PlatformRefused(
            f"Discord shows at most {MAX_BUTTON_ROWS} rows of {MAX_ROW_BUTTONS} {BUTTONS_COMPONENT}", permanent=True
        )
    return [{"type": ACTION_ROW, "components": [_button(each) for each in row]} for row in rows]


def _button(button: Button) -> Payload:
    shown: dict[str, Any] = {"type": BUTTON, "label": button.label[:80]}
    if button.url:
        return {**shown, "style": LINK, "url": button.url}
    return {**shown, "style": SECONDARY, "custom_id": require_short_data(button, MAX_CUSTOM_ID_BYTES, SERVICE)}
