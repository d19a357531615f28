"""Downloads the files of messages from the homeserver and uploads files to send."""

import base64
import binascii
import mimetypes
from collections.abc import Awaitable, Callable
from urllib.parse import quote

from parlour.core.platforms.port import Content, PlatformRefused, PlatformUncertain
from parlour_sdk.protocol.chain import Media

from .client import Client, answered
from .content import MEDIA, STICKER, current
from .errors import Refused
from .values import Payload, mapping, number, text

LARGEST = 20 * 1024 * 1024
"""Maximum size in bytes of a file that is downloaded; the manifest states the same limit."""
DOWNLOADS = ("/_matrix/client/v1/media/download", "/_matrix/media/v3/download")
"""Download paths, newest first; homeservers from before 2024 have only the second."""
LIMITS = ("/_matrix/client/v1/media/config", "/_matrix/media/v3/config")
UNKNOWN_TYPE = "application/octet-stream"
Fetch = Callable[[str], Awaitable[Content]]
_MESSAGE_TYPES = {kind: name for name, kind in MEDIA.items()}


def address(event: Payload) -> str:
    """Returns the address of a message's file; empty if it has none."""
    content = current(event)
    of_a_file = event.get("type") == STICKER or content.get("msgtype") in MEDIA
    return text(content, "url") if of_a_file else ""


class Files:
    """Downloads and uploads the files of one account."""

    def __init__(self, client: Client, fetch: Fetch) -> None:
        self._client = client
        self._fetch = fetch
        self._most: int | None = None

    async def content_of(self, event: Payload) -> tuple[str, str]:
        """Returns a message's file as base64, or an empty string and the reason why there is none."""
        size = number(mapping(current(event).get("info")).get("size"))
        if size is not None and size > LARGEST:
            return "", f"{_megabytes(size)}: more than the {_megabytes(LARGEST)} that are fetched"
        if "file" in current(event) and not address(event):
            return "", "it is encrypted"
        try:
            data = await self._downloaded(address(event))
        except (PlatformRefused, PlatformUncertain) as error:
            return "", f"it could not be fetched: {error}"
        return base64.b64encode(data).decode(), ""

    async def put(self, data: bytes, name: str, mime_type: str) -> str:
        """Uploads a file and returns its address. Raises PlatformRefused if it is too large."""
        most = await self._largest()
        if most is not None and len(data) > most:
            sentence = f"the file '{name[:100]}' has {_megabytes(len(data))}; this homeserver takes {_megabytes(most)}"
            raise PlatformRefused(sentence, permanent=True)
        return answered(await self._client.upload(data, mime_type or _guessed(name), name), "content_uri")

    async def message(self, media: Media) -> Payload:
        """Uploads a file and returns the content of the message that shows it."""
        data, name, mime_type = await self._read(media)
        kind = mime_type or _guessed(name)
        name = name or f"{media.type.lower()}{mimetypes.guess_extension(kind) or ''}"
        info = {"mimetype": kind, "size": len(data)}
        uri = await self.put(data, name, kind)
        message_type = _MESSAGE_TYPES[type(media)]  # type: ignore[index]
        return {"msgtype": message_type, "body": name, "filename": name, "url": uri, "info": info, "m.mentions": {}}

    async def _read(self, media: Media) -> tuple[bytes, str, str]:
        name, mime_type = media.name or "", media.mime_type or ""
        if media.artifact_id:
            content = await self._fetch(media.artifact_id)
            return content.data, name or content.name, mime_type or content.mime_type
        if not media.base64:
            reason = "a path of the Host's machine is not sent; give url, base64 or artifact_id instead"
            raise PlatformRefused(reason, permanent=True)
        try:
            return base64.b64decode(media.base64, validate=True), name, mime_type
        except (binascii.Error, ValueError):
            raise PlatformRefused(f"{media.type}.base64: this is not base64", permanent=True) from None

    async def _downloaded(self, uri: str) -> bytes:
        server, _, media_id = uri.removeprefix("mxc://").partition("/")
        if not uri.startswith("mxc://") or not server or not media_id:
            raise PlatformRefused("its address is none of Matrix", permanent=True)
        new, old = (f"{each}/{quote(server, safe='')}/{quote(media_id, safe='')}" for each in DOWNLOADS)
        try:
            return await self._client.download(new, LARGEST)
        except Refused as refused:
            if refused.code != "M_UNRECOGNIZED":
                raise
        return await self._client.download(old, LARGEST)

    async def _largest(self) -> int | None:
        if self._most is None:
            for where in LIMITS:
                try:
                    self._most = number((await self._client.get(where)).get("m.upload.size"))
                    break
                except Refused:
                    continue
        return self._most


def _guessed(name: str) -> str:
    return mimetypes.guess_type(name)[0] or UNKNOWN_TYPE


def _megabytes(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"
