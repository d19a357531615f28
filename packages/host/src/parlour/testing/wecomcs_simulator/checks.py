"""Checks the bodies of kf/send_msg as strictly as WeCom does, with its own error codes."""

import re
from collections.abc import Callable
from typing import Any

from parlour.testing.errcode_simulator import ErrcodeRefusal, Json

MAX_TEXT_BYTES, MAX_ITEMS, MAX_ITEM_BYTES, MAX_HEAD_BYTES = 2048, 10, 128, 1024
FIELDS = {"touser", "open_kfid", "msgid", "msgtype"}
FILES = ("image", "voice", "video", "file")
_MESSAGE_ID = re.compile(r"[0-9a-zA-Z_-]{1,32}")


def check_message(body: Any, find_media: Callable[[Any], tuple[str, str, bytes]]) -> Json:
    """Returns the content of a message. Raises ErrcodeRefusal."""
    if not isinstance(body, dict) or not isinstance(body.get("msgtype"), str):
        raise ErrcodeRefusal(40008, "invalid message type")
    kind = body["msgtype"]
    content, unknown = body.get(kind), set(body) - FIELDS - {kind}
    if unknown or not isinstance(content, dict):
        raise ErrcodeRefusal(40058, f"invalid request parameter: {sorted(unknown) or kind}")
    if "msgid" in body and not _MESSAGE_ID.fullmatch(str(body["msgid"])):
        raise ErrcodeRefusal(40058, "invalid msgid")
    if kind == "text":
        check_text(content.get("content"))
    elif kind in FILES:
        if find_media(content.get("media_id"))[0] != kind:
            raise ErrcodeRefusal(40007, "invalid media_id")
    elif kind == "location":
        if not all(isinstance(content.get(name), int | float) for name in ("latitude", "longitude")):
            raise ErrcodeRefusal(40058, "latitude and longitude")
    elif kind == "msgmenu":
        _check_menu(content)
    else:
        raise ErrcodeRefusal(40008, "invalid message type")
    return content


def check_text(text: Any) -> None:
    if not isinstance(text, str) or not text.strip():
        raise ErrcodeRefusal(44004, "empty content")
    if len(text.encode()) > MAX_TEXT_BYTES:
        raise ErrcodeRefusal(45002, "content size out of limit")


def _check_menu(menu: Json) -> None:
    items = menu.get("list")
    if not isinstance(items, list) or not 1 <= len(items) <= MAX_ITEMS:
        raise ErrcodeRefusal(40058, "list")
    if len(menu.get("head_content", "").encode()) > MAX_HEAD_BYTES:
        raise ErrcodeRefusal(40058, "head_content")
    for each in items:
        own = each.get(each.get("type"))
        if each.get("type") not in ("click", "view") or not own or not own.get("content"):
            raise ErrcodeRefusal(40058, "item")
        if any(len(str(value).encode()) > MAX_ITEM_BYTES for name, value in own.items() if name != "url"):
            raise ErrcodeRefusal(40058, "item is too long")
