"""Assembles files that a plugin uploads in chunks for a platform, which receives each file as a whole."""

import base64
import binascii
from dataclasses import field

from parlour.core.errors import CallRejected
from parlour.core.model.ids import BotId, PluginId
from parlour.core.model.ports import Clock, Ids
from parlour_sdk.protocol.platform_api import UploadFile
from parlour_sdk.values import dataclass

MAX_FILE_BYTES = 20 * 1024 * 1024
"""Maximum size of a file in bytes."""
MAX_OPEN_UPLOADS_PER_PLUGIN = 4
"""Maximum number of unfinished uploads of a plugin."""
UPLOAD_TIMEOUT_MILLISECONDS = 5 * 60 * 1000
"""Milliseconds without a new chunk after which an upload is dropped."""


@dataclass(slots=True)
class _OpenUpload:
    plugin_id: PluginId
    bot_id: BotId
    filename: str
    updated_at: int
    content: bytearray = field(default_factory=bytearray)


class ChunkedUploads:
    """Holds unfinished uploads in memory: a plugin has few of them, and abandoned ones are dropped after a while."""

    def __init__(self, ids: Ids, clock: Clock) -> None:
        self._ids = ids
        self._clock = clock
        self._open_uploads: dict[str, _OpenUpload] = {}

    def add_chunk(self, plugin_id: PluginId, request: UploadFile) -> tuple[str, bytes | None]:
        """Adds a chunk. Returns the upload's id, and the whole file if this was the last chunk.

        A chunk that is refused ends its upload.
        """
        chunk = _decoded(request.content_base64)
        self._drop_expired()
        upload_id, upload = self._claim_upload(plugin_id, request)
        if len(upload.content) + len(chunk) > MAX_FILE_BYTES:
            raise CallRejected("payload_too_large", f"a file for a platform has at most {MAX_FILE_BYTES // 1024} KiB")
        upload.content += chunk
        if request.is_last:
            return upload_id, bytes(upload.content)
        upload.updated_at = self._clock.now()
        self._open_uploads[upload_id] = upload
        return upload_id, None

    def _claim_upload(self, plugin_id: PluginId, request: UploadFile) -> tuple[str, _OpenUpload]:
        """Removes the upload from the table, so that only a chunk that is accepted puts it back."""
        if request.upload_id is None:
            if sum(each.plugin_id == plugin_id for each in self._open_uploads.values()) >= MAX_OPEN_UPLOADS_PER_PLUGIN:
                message = (
                    f"a plugin sends at most {MAX_OPEN_UPLOADS_PER_PLUGIN} files to platforms at once; finish one first"
                )
                raise CallRejected("rate_limited", message, retryable=True)
            return self._ids.new(), _OpenUpload(plugin_id, BotId(request.bot_id), request.filename, self._clock.now())
        upload = self._open_uploads.get(request.upload_id)
        if upload is None or upload.plugin_id != plugin_id:
            message = f"upload_id: there is no upload '{request.upload_id[:64]}'; begin again without one"
            raise CallRejected("not_found", message)
        del self._open_uploads[request.upload_id]
        if (upload.bot_id, upload.filename) != (request.bot_id, request.filename):
            raise CallRejected(
                "invalid_argument", "bot_id, filename: every piece of a file names the same; begin again"
            )
        return request.upload_id, upload

    def _drop_expired(self) -> None:
        oldest = self._clock.now() - UPLOAD_TIMEOUT_MILLISECONDS
        self._open_uploads = {name: each for name, each in self._open_uploads.items() if each.updated_at >= oldest}


def _decoded(content: str) -> bytes:
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        raise CallRejected("invalid_argument", "content_base64: this is not base64") from None
