"""Converts the contents of DingTalk's messages into chains. Pure: files are already fetched."""

import json
from typing import Any

from parlour.platforms._kit.payloads import Payload, identifier, object_in, objects_in, text
from parlour.platforms._kit.wechat_content import CONTENT, FILE_NAME, FILE_TYPE, PROBLEM
from parlour_sdk.protocol.chain import At, Component, File, Image, Media, Plain, Quote, Unknown, Video, Voice

FILES_KEY = "fetched_files"
"""Key under which the contents of files are added to a message, by their download codes."""
KINDS: dict[str, tuple[type[Media], str, str]] = {
    "picture": (Image, "picture.png", "image/png"),
    "audio": (Voice, "voice.amr", "audio/amr"),
    "video": (Video, "video.mp4", "video/mp4"),
    "file": (File, "file.bin", "application/octet-stream"),
}
"""Types of messages with a file: the component, and name and type that are assumed."""


def content(message: Payload) -> list[Component]:
    """Returns the components of a message: a quote, mentions, and what was written."""
    kind = text(message, "msgtype")
    return [
        *_quote(message),
        *_mentions(message),
        *_parts(kind, native_content(message), object_in(message, FILES_KEY)),
    ]


def native_content(message: Payload) -> Payload:
    """Returns the content of a message. Some versions of DingTalk send it as JSON in a string."""
    kind = text(message, "msgtype")
    own: Any = message.get(kind) if kind == "text" else message.get("content", message.get(kind))
    if isinstance(own, str):
        own = json.loads(own)
    return own if isinstance(own, dict) else {}


def file_codes(message: Payload) -> list[str]:
    """Returns the download codes of the files of a message."""
    kind, own = text(message, "msgtype"), native_content(message)
    if kind == "richText":
        return [text(each, "downloadCode") for each in objects_in(own, "richText") if text(each, "downloadCode")]
    return [text(own, "downloadCode")] if kind in KINDS and text(own, "downloadCode") else []


def _parts(kind: str, own: Payload, files: Payload | None) -> list[Component]:
    if kind == "text":
        written = own.get("content")
        if not isinstance(written, str):
            raise ValueError("content is missing")
        return [Plain(text=written.strip())] if written.strip() else []
    if kind == "richText":
        return [part for each in objects_in(own, "richText") for part in _rich_part(each, files)]
    if kind in KINDS:
        file = _file(kind, own, files)
        recognized = text(own, "recognition")
        return [file, Plain(text=recognized)] if kind == "audio" and recognized else [file]
    return [Unknown(text=f"[a message of the kind {kind[:60] or 'none'}, which can't be read]")]


def _rich_part(part: Payload, files: Payload | None) -> list[Component]:
    if text(part, "downloadCode"):
        return [_file("picture", part, files)]
    return [Plain(text=text(part, "text"))] if text(part, "text") else []


def _file(kind: str, own: Payload, files: Payload | None) -> Component:
    """Returns a file; only its kind if it belongs to a quoted message, whose files are not fetched."""
    if files is None:
        return Unknown(text=f"[{kind}]")
    component, name, mime_type = KINDS[kind]
    fetched = object_in(files, text(own, "downloadCode"))
    data = text(fetched, CONTENT)
    if not data:
        return Unknown(text=f"[{kind}: {text(fetched, PROBLEM) or 'it could not be fetched'}]")
    size = len(data) * 3 // 4 - data[-2:].count("=")
    known_name = text(own, "fileName") or text(fetched, FILE_NAME) or name
    fields: dict[str, Any] = {"base64": data, "name": known_name, "size": size}
    fields["mime_type"] = text(fetched, FILE_TYPE) or mime_type
    return component(**fields)  # type: ignore[return-value]


def _mentions(message: Payload) -> list[Component]:
    """Returns the mentioned users. DingTalk removes mentions from the text and does not say where they were."""
    if text(message, "conversationType") != "2":
        return []
    bot = text(message, "chatbotUserId")
    mentions: list[Component] = [At(target=bot)] if message.get("isInAtList") is True and bot else []
    for each in objects_in(message, "atUsers"):
        user_id = text(each, "staffId") or text(each, "dingtalkId")
        if user_id and text(each, "dingtalkId") != bot:
            mentions.append(At(target=user_id))
    return mentions


def _quote(message: Payload) -> list[Component]:
    own = object_in(message, "text")
    replied = object_in(own, "repliedMsg")
    message_id = text(replied, "msgId") or text(message, "originalMsgId")
    if not replied and not (own.get("isReplyMsg") is True and message_id):
        return []
    kind, quoted = text(replied, "msgType"), object_in(replied, "content")
    if kind == "text":
        quoted = {"content": text(quoted, "text")}
    origin = _parts(kind, quoted, None) if kind else []
    sender = identifier(replied["senderId"]) if replied.get("senderId") else None
    return [Quote(id=message_id or None, sender=sender, origin=origin)]
