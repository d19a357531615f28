"""Converts chains into messages of QQ: texts, Markdown with buttons, and files with a text."""

import re

from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.buttons import Button, require_short_data
from parlour.platforms._kit.outgoing_files import Fetch
from parlour.platforms._kit.payloads import Payload
from parlour.platforms._kit.wechat_content import MIB, FileRule, SendProfile, WechatPart, encode_parts
from parlour_sdk.protocol.chain import At, MessageChain, Plain

from .entities import NAME, SERVICE, is_guild

FILES = {
    "Image": FileRule("image", ("image/jpeg", "image/png"), 20 * MIB),
    "Video": FileRule("video", ("video/mp4",), 20 * MIB),
    "Voice": FileRule("voice", ("audio/silk",), 20 * MIB),
    "File": FileRule("file"),
}
PROFILE = SendProfile(SERVICE, NAME, FILES)
FILE_TYPES = {"image": 1, "video": 2, "voice": 3, "file": 4}
TEXT, MARKDOWN, MEDIA = 0, 2, 7
BUTTONS_PER_ROW, MAX_ROWS = 5, 5
MAX_DATA_BYTES = 256
MAX_LABEL_CHARACTERS = 20
_ADDRESS = re.compile(r"(?:https?://)?(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}(?:[/?#][^\s]*)?")


async def encode(chain: MessageChain, chat_id: str, fetch: Fetch) -> list[WechatPart]:
    """Encodes a chain into messages, in order. A text is sent together with the file behind it."""
    shown: MessageChain = []
    for component in chain:
        if isinstance(component, At) and is_guild(chat_id):
            shown.append(Plain(text=f"<@!{component.target}> "))
        elif isinstance(component, Plain):
            shown.append(Plain(text=escape_mentions(component.text)))
        else:
            shown.append(component)
    parts: list[WechatPart] = []
    for part in await encode_parts(shown, fetch, PROFILE):
        before = parts[-1] if parts else None
        if part.file is not None and before is not None and before.is_text and not before.buttons:
            before.file, before.kind = part.file, part.kind
        else:
            parts.append(part)
    return parts


def escape_mentions(content: str) -> str:
    """Returns text whose mentions are no mentions."""
    return content.replace("<@", "< @").replace("@everyone", "@ everyone")


def without_addresses(content: str) -> str:
    """Returns text in which no address can be clicked: QQ takes only those of registered domains."""
    return _ADDRESS.sub(lambda match: match[0].replace(".", "。"), content)


def text_body(content: str) -> Payload:
    return {"msg_type": TEXT, "content": content}


def markdown_body(content: str, buttons: list[Button]) -> Payload:
    body: Payload = {"msg_type": MARKDOWN, "markdown": {"content": content or " "}}
    return {**body, "keyboard": {"content": {"rows": _rows(buttons)}}} if buttons else body


def media_body(content: str, file_info: str) -> Payload:
    return {"msg_type": MEDIA, "content": content.strip() or " ", "media": {"file_info": file_info}}


def _rows(buttons: list[Button]) -> list[Payload]:
    if len(buttons) > BUTTONS_PER_ROW * MAX_ROWS:
        raise PlatformRefused(
            f"{SERVICE} shows at most {BUTTONS_PER_ROW * MAX_ROWS} buttons in a message", permanent=True
        )
    shown = [_button(number, each) for number, each in enumerate(buttons, 1)]
    return [{"buttons": shown[first : first + BUTTONS_PER_ROW]} for first in range(0, len(shown), BUTTONS_PER_ROW)]


def _button(number: int, button: Button) -> Payload:
    label = button.label[:MAX_LABEL_CHARACTERS]
    action: Payload = {"type": 0, "data": button.url} if button.url else {"type": 1}
    if not button.url:
        action["data"] = require_short_data(button, MAX_DATA_BYTES, SERVICE)
    action |= {"permission": {"type": 2}, "unsupport_tips": label}
    return {"id": str(number), "render_data": {"label": label, "visited_label": label, "style": 1}, "action": action}
