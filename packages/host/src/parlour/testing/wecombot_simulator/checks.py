"""Checks the messages of AI bots as strictly as WeCom does, with its own error codes."""

from collections.abc import Mapping
from typing import Any

from parlour.testing.errcode_simulator import Json

MAX_TEXT_BYTES = 20_480
MAX_BUTTONS, MAX_TITLE, MAX_SUBTITLE, MAX_TASK_ID, MAX_KEY = 6, 36, 160, 128, 1024
FILES = ("image", "voice", "video", "file")
STREAM_FIELDS = {"id", "finish", "content", "feedback", "msg_item"}


class WecomBotRefusal(Exception):
    """An answer with an error code."""

    def __init__(self, code: int, message: str = "refused") -> None:
        super().__init__(f"{code} {message}")
        self.code = code
        self.message = message


def check_message(body: Json, media: Mapping[str, tuple[str, str, bytes]]) -> Json:
    """Returns the content of a message. Raises WecomBotRefusal."""
    kind = body.get("msgtype")
    content = body.get(str(kind))
    if not isinstance(content, dict):
        raise WecomBotRefusal(40008, "invalid message type")
    if kind in ("text", "markdown"):
        check_text(content.get("content"))
    elif kind == "stream":
        check_stream(content)
    elif kind == "template_card":
        check_card(content)
    elif kind in FILES:
        if media.get(str(content.get("media_id")), ("",))[0] != kind:
            raise WecomBotRefusal(40007, "invalid media_id")
    else:
        raise WecomBotRefusal(40008, "invalid message type")
    return content


def check_text(text: Any) -> None:
    if not isinstance(text, str) or not text.strip():
        raise WecomBotRefusal(44004, "empty content")
    if len(text.encode()) > MAX_TEXT_BYTES:
        raise WecomBotRefusal(45002, "content size out of limit")


def check_stream(stream: Json) -> None:
    if set(stream) - STREAM_FIELDS or not isinstance(stream.get("finish"), bool):
        raise WecomBotRefusal(40058, "invalid stream")
    if not isinstance(stream.get("id"), str) or not 1 <= len(stream["id"]) <= 64:
        raise WecomBotRefusal(40058, "invalid stream id")
    if not isinstance(stream.get("content"), str) or len(stream["content"].encode()) > MAX_TEXT_BYTES:
        raise WecomBotRefusal(45002, "content size out of limit")
    if stream.get("msg_item") and not stream["finish"]:
        raise WecomBotRefusal(40058, "msg_item before the end")


def check_card(card: Json) -> None:
    task_id, buttons = card.get("task_id"), card.get("button_list")
    if card.get("card_type") != "button_interaction":
        raise WecomBotRefusal(42046, "invalid card_type")
    if not isinstance(task_id, str) or not 1 <= len(task_id) <= MAX_TASK_ID:
        raise WecomBotRefusal(42049, "invalid task_id")
    if not 1 <= len(card.get("main_title", {}).get("title", "")) <= MAX_TITLE:
        raise WecomBotRefusal(42047, "invalid main_title")
    if len(card.get("sub_title_text", "")) > MAX_SUBTITLE:
        raise WecomBotRefusal(42047, "invalid sub_title_text")
    if not isinstance(buttons, list) or not 1 <= len(buttons) <= MAX_BUTTONS:
        raise WecomBotRefusal(42048, "invalid button_list")
    for each in buttons:
        key = each.get("key") or each.get("url")
        if not each.get("text") or not key or len(key.encode()) > MAX_KEY:
            raise WecomBotRefusal(42048, "invalid button")
