"""Converts the parts of a message into passive replies in XML, and into customer-service messages in JSON."""

from time import time
from xml.sax.saxutils import escape

from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.payloads import Payload, text
from parlour.platforms._kit.wechat_content import MIB, FileRule, SendProfile, WechatPart

from .entities import NAME, SERVICE

FILES = {
    "Image": FileRule("image", ("image/jpeg", "image/png", "image/gif"), 10 * MIB),
    "Voice": FileRule("voice", ("audio/amr", "audio/mpeg"), 2 * MIB),
    "Video": FileRule("video", ("video/mp4",), 10 * MIB),
}
PROFILE = SendProfile(SERVICE, NAME, FILES, ("link",))
MAX_TEXT_BYTES = 2048
MAX_TITLE_CHARACTERS = 64
_LINK_FIELDS = {"title": "Title", "description": "Description", "url": "Url", "picurl": "PicUrl"}


def body_of(part: WechatPart, media_id: str = "") -> Payload:
    """Returns the body of a customer-service message, without its receiver."""
    if part.is_text:
        if len(part.text.encode()) > MAX_TEXT_BYTES:
            raise PlatformRefused(f"{SERVICE} takes texts of up to {MAX_TEXT_BYTES} bytes", permanent=True)
        return {"msgtype": "text", "text": {"content": part.text}}
    if part.file is None:
        return {"msgtype": "news", "news": {"articles": [_article(part.own)]}}
    content = {"media_id": media_id}
    if part.kind == "video":
        content["title"] = part.file.name[:MAX_TITLE_CHARACTERS]
    return {"msgtype": part.kind, part.kind: content}


def _article(link: Payload) -> Payload:
    """Returns a link with a title, from the fields in which links are received."""
    article = {name: text(link, own) for name, own in _LINK_FIELDS.items() if text(link, own)}
    if not article.get("title") or not article.get("url"):
        raise PlatformRefused(f"a link of {SERVICE} needs a Title and a Url", permanent=True)
    return article


def passive_reply(body: Payload, sender: str, receiver: str) -> str:
    """Returns the XML of a passive reply with the same content as a customer-service message."""
    kind = str(body["msgtype"])
    head = (
        f"{_field('ToUserName', receiver)}{_field('FromUserName', sender)}"
        f"<CreateTime>{round(time())}</CreateTime>{_field('MsgType', kind)}"
    )
    return f"<xml>{head}{_content(kind, body[kind])}</xml>"


def _content(kind: str, content: Payload) -> str:
    match kind:
        case "text":
            return _field("Content", str(content["content"]))
        case "news":
            items = "".join(
                f"<item>{''.join(_field(own, each.get(name, '')) for name, own in _LINK_FIELDS.items())}</item>"
                for each in content["articles"]
            )
            return f"<ArticleCount>{len(content['articles'])}</ArticleCount><Articles>{items}</Articles>"
    title = _field("Title", str(content["title"])) if "title" in content else ""
    name = kind.capitalize()
    return f"<{name}>{_field('MediaId', str(content['media_id']))}{title}</{name}>"


def _field(name: str, value: str) -> str:
    return f"<{name}>{escape(value)}</{name}>"
