"""Checks calls as strictly as the gateway does: headers, fields, items."""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]
MAX_TEXT = 4000
ITEMS = {1: "text_item", 2: "image_item", 4: "file_item", 5: "video_item"}
MESSAGE_FIELDS = {
    "from_user_id", "to_user_id", "client_id", "message_type", "message_state", "item_list", "context_token",
}  # fmt: skip
UPLOAD_FIELDS = {
    "filekey", "media_type", "to_user_id", "rawsize", "rawfilemd5", "filesize", "no_need_thumb", "aeskey",
}  # fmt: skip
HEX_KEY = re.compile(r"[0-9a-f]{32}")


class WechatRefusal(Exception):
    """An answer with an error code, or with an HTTP status."""

    def __init__(self, code: int, message: str = "", status: int = 200, retry_after: float | None = None) -> None:
        super().__init__(f"{code} {message}")
        self.code = code
        self.message = message
        self.status = status
        self.retry_after = retry_after


def check_headers(headers: Mapping[str, str]) -> None:
    if headers.get("iLink-App-Id") != "bot" or not headers.get("iLink-App-ClientVersion", "").isdigit():
        raise WechatRefusal(-3, "the client is unknown")
    if headers.get("AuthorizationType") != "ilink_bot_token":
        raise WechatRefusal(-3, "AuthorizationType")
    try:
        number = int(base64.b64decode(headers.get("X-WECHAT-UIN", ""), validate=True))
    except (binascii.Error, ValueError):
        raise WechatRefusal(-3, "X-WECHAT-UIN") from None
    if not 0 <= number < 2**32:
        raise WechatRefusal(-3, "X-WECHAT-UIN")


def check_message(message: Any) -> Json:
    """Returns the only item of a message of the bot."""
    if not isinstance(message, dict) or set(message) - MESSAGE_FIELDS or not message.get("to_user_id"):
        raise WechatRefusal(-1, "invalid message")
    if message.get("message_type") != 2 or message.get("message_state") != 2 or not message.get("client_id"):
        raise WechatRefusal(-1, "invalid message state")
    items = message.get("item_list")
    if not isinstance(items, list) or len(items) != 1 or items[0].get("type") not in ITEMS:
        raise WechatRefusal(-1, "invalid item list")
    item: Json = items[0]
    own = item.get(ITEMS[item["type"]])
    if not isinstance(own, dict):
        raise WechatRefusal(-1, "invalid item")
    if item["type"] == 1 and not (isinstance(own.get("text"), str) and 0 < len(own["text"]) <= MAX_TEXT):
        raise WechatRefusal(-1, "invalid text")
    return item


def check_upload(body: Json) -> None:
    if set(body) - UPLOAD_FIELDS - {"base_info"} or not set(body) >= UPLOAD_FIELDS:
        raise WechatRefusal(-1, "invalid upload")
    if body["media_type"] not in (1, 2, 3, 4) or not HEX_KEY.fullmatch(str(body["aeskey"])):
        raise WechatRefusal(-1, "invalid upload")
    if body["filesize"] != (body["rawsize"] // 16 + 1) * 16:
        raise WechatRefusal(-1, "filesize is not that of the encrypted file")
