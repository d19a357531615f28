"""Checks the bodies of message/send as strictly as WeCom does, with its own error codes."""

from collections.abc import Callable
from typing import Any

from parlour.testing.errcode_simulator import ErrcodeRefusal, Json

MAX_TEXT_BYTES = 2048
FIELDS = {
    "touser", "toparty", "totag", "agentid", "msgtype", "safe", "enable_id_trans", "enable_duplicate_check",
    "duplicate_check_interval",
}  # fmt: skip
MAX_BUTTONS, MAX_TITLE, MAX_SUBTITLE, MAX_TASK_ID, MAX_KEY = 6, 36, 160, 128, 1024


def check_message(body: Any, find_media: Callable[[Any], tuple[str, str, bytes]], tasks: set[str]) -> Json:
    """Returns the content of a message. Raises ErrcodeRefusal."""
    if not isinstance(body, dict) or not isinstance(body.get("msgtype"), str):
        raise ErrcodeRefusal(40008, "invalid message type")
    kind = body["msgtype"]
    unknown = set(body) - FIELDS - {kind}
    content = body.get(kind)
    if unknown or not isinstance(content, dict):
        raise ErrcodeRefusal(40058, f"invalid request parameter: {sorted(unknown) or kind}")
    if not isinstance(body.get("agentid"), int):
        raise ErrcodeRefusal(40056, "invalid agentid")
    match kind:
        case "text" | "markdown":
            text = content.get("content")
            if not isinstance(text, str) or not text.strip():
                raise ErrcodeRefusal(44004, "empty content")
            if len(text.encode()) > MAX_TEXT_BYTES:
                raise ErrcodeRefusal(45002, "content size out of limit")
        case "image" | "voice" | "video" | "file":
            if find_media(content.get("media_id"))[0] != kind:
                raise ErrcodeRefusal(40007, "invalid media_id")
        case "news":
            articles = content.get("articles")
            if not isinstance(articles, list) or not 1 <= len(articles) <= 8:
                raise ErrcodeRefusal(40058, "articles")
            if not all(each.get("title") and each.get("url") for each in articles):
                raise ErrcodeRefusal(40058, "title and url are needed")
        case "template_card":
            _check_card(content, tasks)
        case _:
            raise ErrcodeRefusal(40008, "invalid message type")
    return content


def _check_card(card: Json, tasks: set[str]) -> None:
    if card.get("card_type") != "button_interaction":
        raise ErrcodeRefusal(42046, "invalid card_type")
    task_id, buttons = card.get("task_id"), card.get("button_list")
    if not isinstance(task_id, str) or not 1 <= len(task_id) <= MAX_TASK_ID or task_id in tasks:
        raise ErrcodeRefusal(42049, "invalid or used task_id")
    if not 1 <= len(card.get("main_title", {}).get("title", "")) <= MAX_TITLE:
        raise ErrcodeRefusal(42047, "invalid main_title")
    if len(card.get("sub_title_text", "")) > MAX_SUBTITLE:
        raise ErrcodeRefusal(42047, "invalid sub_title_text")
    if not isinstance(buttons, list) or not 1 <= len(buttons) <= MAX_BUTTONS:
        raise ErrcodeRefusal(42048, "invalid button_list")
    for each in buttons:
        key = each.get("key") or each.get("url")
        if not each.get("text") or not key or len(key.encode()) > MAX_KEY or each.get("style", 1) not in (1, 2, 3, 4):
            raise ErrcodeRefusal(42048, "invalid button")
