"""Converts the parts of a message into the bodies of WeCom's call message/send."""

from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.buttons import require_short_data
from parlour.platforms._kit.payloads import Payload, text
from parlour.platforms._kit.wechat_content import MIB, FileRule, SendProfile, WechatPart

from .entities import NAME, SERVICE

FILES = {
    "Image": FileRule("image", ("image/jpeg", "image/png"), 10 * MIB),
    "Voice": FileRule("voice", ("audio/amr",), 2 * MIB),
    "Video": FileRule("video", ("video/mp4",), 10 * MIB),
    "File": FileRule("file"),
}
PROFILE = SendProfile(SERVICE, NAME, FILES, ("link",))
MAX_BUTTONS = 6
MAX_KEY_BYTES = 1024
MAX_LABEL_CHARACTERS = 10
MAX_TITLE_CHARACTERS = 26
MAX_SUBTITLE_CHARACTERS = 112


def text_body(content: str) -> Payload:
    return {"msgtype": "text", "text": {"content": content}}


def file_body(part: WechatPart, media_id: str) -> Payload:
    content = {"media_id": media_id}
    if part.kind == "video" and part.file is not None:
        content["title"] = part.file.name[:64]
    return {"msgtype": part.kind, part.kind: content}


def link_body(link: Payload) -> Payload:
    """Returns a link with a title, in the fields in which links are received."""
    names = {"title": "Title", "description": "Description", "url": "Url", "picurl": "PicUrl"}
    article = {name: text(link, own) for name, own in names.items() if text(link, own)}
    if not article.get("title") or not article.get("url"):
        raise PlatformRefused(f"a link of {SERVICE} needs a Title and a Url", permanent=True)
    return {"msgtype": "news", "news": {"articles": [article]}}


def needs_text(part: WechatPart) -> bool:
    """Returns whether the text of a part with buttons is too long for a card and precedes it as a message."""
    return len(part.text) > MAX_SUBTITLE_CHARACTERS


def card_body(part: WechatPart, task_id: str) -> Payload:
    """Returns a card with buttons. Raises PlatformRefused if WeCom can't show them."""
    if len(part.buttons) > MAX_BUTTONS:
        raise PlatformRefused(f"{SERVICE} shows at most {MAX_BUTTONS} buttons in a message", permanent=True)
    title, _, rest = part.text.strip().partition("\n")
    is_title = len(title) <= MAX_TITLE_CHARACTERS
    subtitle = (rest if is_title else part.text.strip())[:MAX_SUBTITLE_CHARACTERS]
    card: Payload = {
        "card_type": "button_interaction",
        "main_title": {"title": title if is_title and title else title[: MAX_TITLE_CHARACTERS - 1] + "…"},
        "task_id": task_id,
        "button_list": [
            {
                "text": button.label[:MAX_LABEL_CHARACTERS],
                "style": 1 if number == 0 else 2,
                **(
                    {"type": 1, "url": button.url}
                    if button.url
                    else {"key": require_short_data(button, MAX_KEY_BYTES, SERVICE)}
                ),
            }
            for number, button in enumerate(part.buttons)
        ],
    }
    if subtitle.strip():
        card["sub_title_text"] = subtitle
    return {"msgtype": "template_card", "template_card": card}
