"""Assembles files that a plugin uploads in chunks for a platform, which receives each file as a whole."""

import base64
import binascii
from dataclasses import field

from parlour.core.errors import Refused
from parlour.core.model.ports import Clock, Ids
from parlour_sdk.protocol.platform_api import UploadFile
from parlour_sdk.values import dataclass

FILE_BYTES = 20 * 1024 * 1024
"""Maximum size of a file in bytes."""
UPLOADS_AT_ONCE = 4
"""Maximum number of unfinished uploads of a plugin."""
FORGOTTEN_MILLISECONDS = 5 * 60 * 1000
"""Milliseconds without a new chunk after which an upload is dropped."""


@dataclass(slots=True)
class _Begun:
    plugin_id: str
    bot_id: str
    filename: str
    heard_at: int
    content: bytearray = field(default_factory=bytearray)


class PlatformUploads:
    """Holds unfinished uploads in memory: a plugin has few of them, and abandoned ones are dropped after a while."""

    def __init__(self, ids: Ids, clock: Clock) -> None:
        self._ids = ids
        self._clock = clock
        self._begun: dict[str, _Begun] = {}

    def take(self, plugin_id: str, request: UploadFile) -> tuple[str, bytes | None]:
        """Adds a chunk. Returns the upload's id, and the whole file if this was the last chunk.

        A chunk that is refused ends its upload.
        """
        piece = _decoded(request.content_base64)
        self._forget_old()
        upload_id, upload = self._upload(plugin_id, request)
        if len(upload.content) + len(piece) > FILE_BYTES:
            raise Refused("payload_too_large", f"a file for a platform has at most {FILE_BYTES // 1024} KiB")
        upload.content += piece
        if request.is_last:
            return upload_id, bytes(upload.content)
        upload.heard_at = self._clock.now()
        self._begun[upload_id] = upload
        return upload_id, None

    def _upload(self, plugin_id: str, request: UploadFile) -> tuple[str, _Begun]:
        """Removes the upload from the table, so that only a chunk that is accepted puts it back."""
        if request.upload_id is None:
            if sum(each.plugin_id == plugin_id for each in self._begun.values()) >= UPLOADS_AT_ONCE:
                told = f"a plugin sends at most {UPLOADS_AT_ONCE} files to platforms at once; finish one first"
                raise Refused("rate_limited", told, retryable=True)
            return self._ids.new(), _Begun(plugin_id, request.bot_id, request.filename, self._clock.now())
        known = self._begun.get(request.upload_id)
        if known is None or known.plugin_id != plugin_id:
            told = f"upload_id: there is no upload '{request.upload_id[:64]}'; begin again without one"
            raise Refused("not_found", told)
        del self._begun[request.upload_id]
        if (known.bot_id, known.filename) != (request.bot_id, request.filename):
            raise Refused("invalid_argument", "bot_id, filename: every piece of a file names the same; begin again")
        return request.upload_id, known

    def _forget_old(self) -> None:
        before = self._clock.now() - FORGOTTEN_MILLISECONDS
        self._begun = {name: each for name, each in self._begun.items() if each.heard_at >= before}


def _decoded(content: str) -> bytes:
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        raise Refused("invalid_argument", "content_base64: this is not base64") from None
