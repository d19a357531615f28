"""Checks passive replies and customer-service messages as strictly as WeChat does, with its own error codes."""

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

from parlour.testing.errcode_simulator import ErrcodeRefusal, Json

MAX_TEXT_BYTES = 2048
FILES = ("image", "voice", "video")
FindMedia = Callable[[Any], tuple[str, str, bytes]]


def check_custom(body: Any, find_media: FindMedia) -> Json:
    """Returns the content of a customer-service message. Raises ErrcodeRefusal."""
    if not isinstance(body, dict) or not isinstance(body.get("touser"), str):
        raise ErrcodeRefusal(40003, "invalid openid")
    kind = str(body.get("msgtype"))
    content, unknown = body.get(kind), set(body) - {"touser", "msgtype", kind}
    if unknown or not isinstance(content, dict):
        raise ErrcodeRefusal(40008, "invalid message type")
    _check(kind, content, find_media)
    return content


def check_passive(xml: str, find_media: FindMedia) -> tuple[Json, str, Json]:
    """Returns the fields of a passive reply, its kind, and its content in the form of a customer-service message."""
    root = ElementTree.fromstring(xml)
    fields = {child.tag: child.text or "" for child in root}
    kind = fields.get("MsgType", "")
    assert fields.get("CreateTime", "").isdecimal(), "a reply needs the time"
    content: Json = {}
    if kind == "text":
        content = {"content": fields.get("Content", "")}
    elif kind in FILES:
        own = root.find(kind.capitalize())
        assert own is not None, f"a reply of the kind {kind} needs its content"
        content = {"media_id": own.findtext("MediaId")}
    elif kind == "news":
        articles = [{child.tag.lower(): child.text or "" for child in item} for item in root.iterfind("Articles/item")]
        assert fields.get("ArticleCount") == str(len(articles))
        content = {"articles": articles}
    _check(kind, content, find_media)
    return fields, kind, content


def _check(kind: str, content: Json, find_media: FindMedia) -> None:
    if kind == "text":
        text = content.get("content")
        if not isinstance(text, str) or not text.strip():
            raise ErrcodeRefusal(44004, "empty content")
        if len(text.encode()) > MAX_TEXT_BYTES:
            raise ErrcodeRefusal(45002, "content size out of limit")
    elif kind in FILES:
        if find_media(content.get("media_id"))[0] != kind:
            raise ErrcodeRefusal(40007, "invalid media_id")
    elif kind == "news":
        articles = content.get("articles")
        if not isinstance(articles, list) or len(articles) != 1:
            raise ErrcodeRefusal(45008, "article size out of limit")
        if not articles[0].get("title") or not articles[0].get("url"):
            raise ErrcodeRefusal(40058, "title and url are needed")
    else:
        raise ErrcodeRefusal(40008, "invalid message type")
