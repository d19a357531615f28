"""Files, media and large results that the Host keeps, read in pieces."""

from base64 import b64decode
from typing import Any

from pydantic import Field

from .base import Count, Milliseconds, Tolerant
from .calls import RunCall
from .limits import ARTIFACT_CHUNK_BYTES


class ArtifactMetadataGet(RunCall):
    """Asks about an artifact."""

    artifact_id: str


class ArtifactRead(RunCall):
    """Asks for a piece of an artifact."""

    artifact_id: str
    offset: Count = 0
    length: int = Field(default=65536, ge=1, le=ARTIFACT_CHUNK_BYTES)
    as_text: bool = False
    """Reads the text of a document, such as a PDF or Word file, as UTF-8; offset and length count its bytes."""


class ArtifactCreate(RunCall):
    """One piece of a new artifact. The first has no `upload_id`; the piece with `is_last` makes the artifact."""

    artifact_type: str
    content_base64: str
    mime_type: str | None = None
    name: str | None = None
    sha256: str | None = None
    expires_at: Milliseconds | None = None
    metadata: dict[str, Any] = {}
    upload_id: str | None = None
    is_last: bool = True


class ArtifactUpload(Tolerant):
    """The answer to a piece: where to go on, or the artifact once it is whole."""

    upload_id: str | None = None
    artifact: "ArtifactMetadata | None" = None


class ArtifactMetadata(Tolerant):
    """An artifact as the Host keeps it."""

    artifact_id: str
    artifact_type: str
    mime_type: str | None = None
    name: str | None = None
    size_bytes: int | None = None
    sha256: str | None = None
    source: str
    conversation_id: str | None = None
    run_id: str | None = None
    runner_id: str | None = None
    created_at: int | None = None
    expires_at: int | None = None
    metadata: dict[str, Any] = {}


class ArtifactChunk(Tolerant):
    """A piece of an artifact."""

    artifact_id: str
    mime_type: str | None = None
    size_bytes: int | None = None
    offset: int
    length: int | None = None
    content_base64: str | None = None
    file_key: str | None = None
    has_more: bool = False

    @property
    def content(self) -> bytes:
        return b64decode(self.content_base64 or "")
