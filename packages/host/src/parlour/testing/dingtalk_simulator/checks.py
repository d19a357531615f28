"""Checks the messages of robots as strictly as DingTalk does."""

import json
from typing import Any

from .stream import DingTalkRefusal, Json

KINDS = {
    "sampleText": ("content",),
    "sampleMarkdown": ("title", "text"),
    "sampleImageMsg": ("photoURL",),
    "sampleAudio": ("mediaId", "duration"),
    "sampleFile": ("mediaId", "fileName", "fileType"),
}
MAX_CHARACTERS, MAX_BYTES = 5000, 20 * 1024


def check_message(body: Json, media: Json) -> Json:
    """Returns the parameters of a message. Raises DingTalkRefusal."""
    kind, encoded = body.get("msgKey"), body.get("msgParam")
    if kind not in KINDS or not isinstance(encoded, str):
        raise DingTalkRefusal(400, "invalidParameter.msgKey.invalid")
    params: Any = json.loads(encoded)
    if set(params) != set(KINDS[kind]) or not all(isinstance(each, str) and each for each in params.values()):
        raise DingTalkRefusal(400, "invalidParameter.msgParam.invalid")
    if len(params.get("text", params.get("content", ""))) > MAX_CHARACTERS or len(encoded.encode()) > MAX_BYTES:
        raise DingTalkRefusal(400, "invalidParameter.msgParam.tooLong")
    media_id = params.get("mediaId") or params.get("photoURL")
    if media_id is not None and media_id not in media:
        raise DingTalkRefusal(400, "invalidParameter.mediaId.invalid")
    return dict(params)


def check_session(body: Json) -> str:
    """Returns the text of a message through a session. Raises DingTalkRefusal."""
    match body:
        case {"msgtype": "text", "text": {"content": str() as content}} if content:
            return content
        case {"msgtype": "markdown", "markdown": {"title": str() as title, "text": str() as content}} if (
            content and title
        ):
            return content
    raise DingTalkRefusal(200, "300001", "param error")
