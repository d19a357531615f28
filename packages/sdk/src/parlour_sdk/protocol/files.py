"""Files that a configuration names."""

from pydantic import Field

from .base import Count, Tolerant
from .calls import RunCall
from .limits import ARTIFACT_CHUNK_BYTES


class GetFile(RunCall):
    """Asks for a piece of a file."""

    file_key: str
    offset: Count = 0
    length: int = Field(default=ARTIFACT_CHUNK_BYTES, ge=1, le=ARTIFACT_CHUNK_BYTES)


class FileChunk(Tolerant):
    """A piece of a file."""

    file_key: str
    file_name: str
    mime_type: str | None = None
    size_bytes: int
    offset: int
    content_base64: str
    has_more: bool = False
