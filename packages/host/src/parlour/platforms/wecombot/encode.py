"""Converts chains into messages of AI bots: Markdown, files, and cards with buttons."""

from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.buttons import require_short_data
from parlour.platforms._kit.outgoing_files import Fetch
from parlour.platforms._kit.payloads import Payload
from parlour.platforms._kit.wechat_content import MIB, FileRule, SendProfile, WechatPart, encode_parts
from parlour_sdk.protocol.chain import At, MessageChain, Plain

from .entities import NAME, SERVICE

FILES = {
    "Image": FileRule("image", ("image/jpeg", "image/png"), 10 * MIB),
    "Video": FileRule("video", ("video/mp4",), 10 * MIB),
    "File": FileRule("file"),
}
PROFILE = SendProfile(SERVICE, NAME, FILES)
MAX_TEXT_BYTES = 20_480
MAX_BUTTONS, MAX_KEY_BYTES = 6, 1024
MAX_TITLE_CHARACTERS, MAX_LABEL_CHARACTERS, MAX_SUBTITLE_CHARACTERS = 26, 10, 112


async def encode(chain: MessageChain, fetch: Fetch) -> list[WechatPart]:
    """Encodes a chain into messages, in order. Only mentions of the chain notify users."""
    shown: MessageChain = []
    for component in chain:
        match component:
            case Plain():
                shown.append(Plain(text=escape_mentions(component.text)))
            case At():
                shown.append(Plain(text=f"<@{component.target}>"))
            case _:
                shown.append(component)
    return await encode_parts(shown, fetch, PROFILE)


def escape_mentions(markdown: str) -> str:
    """Returns text whose mentions are no mentions."""
    return markdown.replace("<@", "< @")


def markdown_body(content: str) -> Payload:
    return {"msgtype": "markdown", "markdown": {"content": content}}


def file_body(part: WechatPart, media_id: str) -> Payload:
    content = {"media_id": media_id}
    if part.kind == "video" and part.file is not None:
        content["title"] = part.file.name[:64]
    return {"msgtype": part.kind, part.kind: content}


def needs_text(part: WechatPart) -> bool:
    """Returns whether the text of a part with buttons is too long for a card and precedes it as a message."""
    return len(part.text) > MAX_SUBTITLE_CHARACTERS


def card(part: WechatPart, task_id: str) -> Payload:
    """Returns a card with buttons. Raises PlatformRefused if WeCom can't show them."""
    if len(part.buttons) > MAX_BUTTONS:
        raise PlatformRefused(f"{SERVICE} shows at most {MAX_BUTTONS} buttons in a message", permanent=True)
    title, _, rest = part.text.strip().partition("\n")
    is_title = len(title) <= MAX_TITLE_CHARACTERS
    subtitle = (rest if is_title else part.text.strip())[:MAX_SUBTITLE_CHARACTERS].strip()
    shown: Payload = {
        "card_type": "button_interaction",
        "main_title": {"title": title if is_title and title else title[: MAX_TITLE_CHARACTERS - 1] + "…"},
        "task_id": task_id,
        "button_list": [],
    }
    for number, button in enumerate(part.buttons):
        own = {"text": button.label[:MAX_LABEL_CHARACTERS], "style": 1 if number == 0 else 2}
        if button.url:
            own |= {"type": 1, "url": button.url}
        else:
            own["key"] = require_short_data(button, MAX_KEY_BYTES, SERVICE)
        shown["button_list"].append(own)
    return {**shown, "sub_title_text": subtitle} if subtitle else shown


def card_body(shown: Payload) -> Payload:
    return {"msgtype": "template_card", "template_card": shown}
