"""Converts a chain into posts of Mattermost, in order: text in Markdown with files, attachments and buttons."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import Any

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
    Media,
    MessageChain,
    Plain,
    Platform,
    Unknown,
)
from parlour_sdk.values import dataclass

from .content import ATTACHMENT
from .entities import NAME, SERVICE

MAX_FILE_BYTES = 100 * 1024 * 1024
MAX_FILES, MAX_BUTTONS, MAX_LABEL_CHARACTERS = 10, 25, 60
EVERYONE = re.compile(r"@(?=(?:all|channel|here)\b)", re.IGNORECASE)
INVISIBLE = "\u200b"
Username = Callable[[str], Awaitable[str]]
"""Returns the name with which a user is mentioned; empty if there is none."""
Sign = Callable[[str], Payload | None]
"""Returns the callback of a button with this data; None if Mattermost can't call this Host."""


@dataclass(slots=True)
class MattermostPost:
    """One post to send."""

    text: str = ""
    files: list[OutgoingFile] = field(default_factory=list)
    attachments: list[Payload] = field(default_factory=list)

    @property
    def is_blank(self) -> bool:
        return not (self.text.strip() or self.files or self.attachments)

    @property
    def props(self) -> dict[str, Any]:
        return {"attachments": self.attachments} if self.attachments else {}


async def encode(chain: MessageChain, fetch: Fetch, username: Username, sign: Sign) -> list[MattermostPost]:
    """Encodes a chain; the result is empty if there is nothing to send. Buttons go to the last post."""
    posts, buttons = [MattermostPost()], list[list[Button]]()
    for component in chain:
        last = posts[-1]
        match component:
            case Media() if not component.url:
                file = await read_file(component, fetch, MAX_FILE_BYTES, SERVICE)
                if last.attachments or len(last.files) >= MAX_FILES:
                    posts.append(MattermostPost())
                posts[-1].files.append(file)
            case Platform(component_type="buttons"):
                buttons = read_buttons(component.data)
            case Platform(platform=platform, component_type=kind, data=data) if (platform, kind) == (NAME, ATTACHMENT):
                if last.files:
                    posts.append(MattermostPost())
                posts[-1].attachments.append(dict(data))
            case _:
                if last.files or last.attachments:
                    posts.append(MattermostPost())
                posts[-1].text += await component_text(component, username)
    shown = [each for each in posts if not each.is_blank]
    if shown and buttons:
        _add_buttons(shown[-1], buttons, sign)
    return shown


async def component_text(component: Component, username: Username) -> str:
    """Returns a component as text in Markdown. Only AtAll notifies everyone."""
    match component:
        case Plain() | Unknown():
            return without_everyone(component.text)
        case At():
            return f"@{await username(component.target) or without_everyone(component.display or component.target)}"
        case AtAll():
            return "@all"
        case Media():
            return component.url or ""  # Mattermost shows a preview of it
        case Face():
            return f":{component.name or component.id}:"
        case Forward():
            shown = ""
            for node in component.nodes:
                parts = [await component_text(each, username) for each in node.chain]
                shown += f"**{node.name or node.sender or '?'}:** {''.join(parts)}\n"
            return shown
        case Platform():
            return without_everyone(component.text or f"[{component.component_type}]")
    return ""


def without_everyone(text: str) -> str:
    """Returns a text in which mentions of everyone stay readable and notify no users."""
    return EVERYONE.sub(f"@{INVISIBLE}", text)


def _add_buttons(post: MattermostPost, rows: list[list[Button]], sign: Sign) -> None:
    """Adds an attachment with buttons for each row. Links, and buttons that could not be pressed, become text."""
    if sum(map(len, rows)) > MAX_BUTTONS:
        raise PlatformRefused(f"Mattermost shows at most {MAX_BUTTONS} buttons in a message", permanent=True)
    lines, number = list[str](), 0
    for row in rows:
        actions = list[Payload]()
        for button in row:
            callback = None if button.url else sign(button.data)
            if callback is not None:
                actions.append(_action(button, callback, number))
            elif button.url:
                lines.append(f"[{button.label}]({button.url})")
            elif not (isinstance(button.value, str) and button.value in post.text):
                lines.append(f"- {button.label}")
            number += 1
        if actions:
            post.attachments.append({"actions": actions})
    if lines:
        post.text += "\n\n" + "\n".join(lines)


def _action(button: Button, callback: Payload, number: int) -> Payload:
    return {
        "id": f"parlour{number}",
        "type": "button",
        "name": button.label[:MAX_LABEL_CHARACTERS],
        "integration": callback,
    }
