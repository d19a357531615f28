"""Prepares outgoing files: the method that sends them, and their content or address.

Files over Telegram's limits are refused with a reason.
"""

import base64
import binascii
import itertools
import mimetypes
from collections.abc import Awaitable, Callable
from typing import Literal

from parlour.core.platforms.port import FileContent, PlatformRefused
from parlour_sdk.protocol.chain import Image, Media, Video, Voice
from parlour_sdk.values import dataclass

from .client import MAX_UPLOAD_BYTES, Upload

MAX_PHOTO_BYTES = 10 * 1024 * 1024
_METHODS = {
    "photo": "sendPhoto",
    "animation": "sendAnimation",
    "video": "sendVideo",
    "voice": "sendVoice",
    "audio": "sendAudio",
    "document": "sendDocument",
}
_ENDINGS = {"photo": "jpg", "animation": "gif", "video": "mp4", "voice": "ogg", "audio": "mp3", "document": "bin"}
_VOICES = ("audio/ogg", "audio/opus", "")
_numbers = itertools.count(1)
Kind = Literal["photo", "animation", "video", "voice", "audio", "document"]
Fetch = Callable[[str], Awaitable[FileContent]]


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file of a message."""

    kind: Kind
    media: str
    """An address, a file id of Telegram, or attach:// with the name of the upload."""
    upload: Upload | None = None

    @property
    def method(self) -> str:
        return _METHODS[self.kind]

    @property
    def family(self) -> str:
        """Group of kinds that can share an album; a kind that has to stay alone gets a unique value."""
        if self.kind in ("photo", "video"):
            return "visual"
        return self.kind if self.kind in ("audio", "document") else f"{self.kind} {self.media}"


async def prepare_attachment(component: Media, fetch: Fetch) -> Attachment:
    """Prepares a file for sending. Raises PlatformRefused with a reason if it can't be sent."""
    mime_type = component.mime_type or mimetypes.guess_type(component.name or component.url or "")[0] or ""
    if component.url:
        return Attachment(_kind(component, mime_type, component.size or 0), component.url)
    if component.artifact_id:
        content = await fetch(component.artifact_id)
        data, name, mime_type = content.data, component.name or content.name, mime_type or content.mime_type
    elif component.base64:
        data, name = _decoded(component.base64), component.name or ""
    else:
        reason = "a path of the Host's machine is not sent; give url, base64 or artifact_id instead"
        raise PlatformRefused(reason, permanent=True)
    if len(data) > MAX_UPLOAD_BYTES:
        size = f"{len(data) / 2**20:.0f} MB"
        raise PlatformRefused(f"the file has {size}, and Telegram takes at most 50 MB from bots", permanent=True)
    kind = _kind(component, mime_type, len(data))
    field = f"file{next(_numbers)}"
    upload = Upload(field, data, name or f"{kind}.{_ENDINGS[kind]}", mime_type or "application/octet-stream")
    return Attachment(kind, f"attach://{field}", upload)


def _kind(component: Media, mime_type: str, size: int) -> Kind:
    match component:
        case Image() if mime_type == "image/gif":
            return "animation"
        case Image() if size <= MAX_PHOTO_BYTES:
            return "photo"
        case Video():
            return "video"
        case Voice():
            return "voice" if mime_type.partition(";")[0] in _VOICES else "audio"
    return "document"


def _decoded(content: str) -> bytes:
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        raise PlatformRefused("base64: this is not base64", permanent=True) from None
