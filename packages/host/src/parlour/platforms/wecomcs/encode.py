"""Converts the parts of a message into the bodies of the call kf/send_msg."""

from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.buttons import require_short_data
from parlour.platforms._kit.payloads import Payload
from parlour.platforms._kit.wechat_content import MIB, FileRule, SendProfile, WechatPart

from .decode import MENU_SEPARATOR
from .entities import NAME, SERVICE

FILES = {
    "Image": FileRule("image", ("image/jpeg", "image/png"), 10 * MIB),
    "Voice": FileRule("voice", ("audio/amr",), 2 * MIB),
    "Video": FileRule("video", ("video/mp4",), 10 * MIB),
    "File": FileRule("file"),
}
PROFILE = SendProfile(SERVICE, NAME, FILES, ("location",))
MAX_ITEMS, MAX_ITEM_BYTES, MAX_MENU_ID_BYTES, MAX_HEAD_BYTES = 10, 128, 128, 1024


def text_body(content: str) -> Payload:
    return {"msgtype": "text", "text": {"content": content}}


def file_body(part: WechatPart, media_id: str) -> Payload:
    return {"msgtype": part.kind, part.kind: {"media_id": media_id}}


def location_body(place: Payload) -> Payload:
    """Returns a place, in the fields in which places are received."""
    names = ("name", "address", "latitude", "longitude")
    shown = {name: place[name] for name in names if place.get(name) not in (None, "")}
    if not all(isinstance(shown.get(name), int | float) for name in ("latitude", "longitude")):
        raise PlatformRefused(f"a location of {SERVICE} needs latitude and longitude", permanent=True)
    return {"msgtype": "location", "location": shown}


def needs_text(part: WechatPart) -> bool:
    """Returns whether the text of a part with buttons is too long for a menu and precedes it as a message."""
    return len(part.text.encode()) > MAX_HEAD_BYTES


def menu_body(part: WechatPart, message_id: str) -> Payload:
    """Returns a menu. A chosen item comes back as a text with its id, which names the message of the menu."""
    if len(part.buttons) > MAX_ITEMS:
        raise PlatformRefused(f"{SERVICE} shows at most {MAX_ITEMS} buttons in a message", permanent=True)
    longest = MAX_MENU_ID_BYTES - len(message_id) - len(MENU_SEPARATOR)
    items: list[Payload] = []
    for button in part.buttons:
        label = button.label.encode()[:MAX_ITEM_BYTES].decode(errors="ignore")
        if button.url:
            items.append({"type": "view", "view": {"url": button.url, "content": label}})
            continue
        data = require_short_data(button, longest, SERVICE)
        items.append({"type": "click", "click": {"id": f"{message_id}{MENU_SEPARATOR}{data}", "content": label}})
    menu: Payload = {"list": items}
    if part.text.strip() and not needs_text(part):
        menu["head_content"] = part.text.strip()
    return {"msgtype": "msgmenu", "msgmenu": menu}
