"""Reads the content of a file that is to be sent, from an artifact or from bytes in the message."""

import base64
import binascii
import mimetypes
from collections.abc import Awaitable, Callable

from parlour.core.platforms.port import FileContent, PlatformRefused
from parlour_sdk.protocol.chain import Media
from parlour_sdk.values import dataclass

Fetch = Callable[[str], Awaitable[FileContent]]
"""Loads an artifact by its id, as HostLink.content."""
UNKNOWN_TYPE = "application/octet-stream"
_ENDINGS = {"Image": ".png", "Voice": ".ogg", "Video": ".mp4", "File": ".bin"}
_TYPES = {"Image": "image/png", "Voice": "audio/ogg", "Video": "video/mp4"}


@dataclass(frozen=True, slots=True)
class OutgoingFile:
    """A file with its content."""

    data: bytes
    name: str
    mime_type: str


async def read_file(media: Media, fetch: Fetch, max_bytes: int, service: str) -> OutgoingFile:
    """Returns a file that is not given by its address. Raises PlatformRefused if it can't be sent."""
    name, mime_type = media.name or "", media.mime_type or ""
    if media.artifact_id:
        content = await fetch(media.artifact_id)
        data, name, mime_type = content.data, name or content.name, mime_type or content.mime_type
    elif media.base64:
        data = _decoded(media)
    else:
        reason = "a path of the Host's machine is not sent; give url, base64 or artifact_id instead"
        raise PlatformRefused(reason, permanent=True)
    if len(data) > max_bytes:
        size = f"{len(data) / 2**20:.1f} MiB"
        raise PlatformRefused(f"the file has {size}, and {service} takes {max_bytes // 2**20} MiB", permanent=True)
    kind = mime_type or mimetypes.guess_type(name)[0] or _TYPES.get(media.type, UNKNOWN_TYPE)
    ending = mimetypes.guess_extension(kind.partition(";")[0]) or _ENDINGS[media.type]
    return OutgoingFile(data, name or f"{media.type.lower()}{ending}", kind)


def _decoded(media: Media) -> bytes:
    try:
        return base64.b64decode(media.base64 or "", validate=True)
    except (binascii.Error, ValueError):
        raise PlatformRefused(f"{media.type}.base64: this is not base64", permanent=True) from None
