"""Response schemas of artifacts: files of messages and runs."""

from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from ..responses import Id, TimestampMs


class ArtifactResponse(TypedDict):
    artifact_id: Id
    artifact_type: str
    mime_type: str | None
    name: str | None
    size_bytes: Annotated[int | None, Field(description="Null while its content was not fetched")]
    sha256: str | None
    source: str
    conversation_id: Id | None
    run_id: Id | None
    runner_id: str | None
    created_at: TimestampMs
    expires_at: TimestampMs | None
    metadata: dict[str, Any]


class UploadedFileResponse(ArtifactResponse):
    """An upload; a message takes it along by its id."""

    file_id: Id
    content: str
    """Where its bytes are."""
