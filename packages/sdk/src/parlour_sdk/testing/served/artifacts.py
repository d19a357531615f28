"""Artifacts in memory: created whole or in chunks, read in chunks, each visible in its conversation."""

import base64
import hashlib
import time
from collections.abc import Callable
from typing import Any

from parlour_sdk.protocol.artifacts import (
    ArtifactChunk,
    ArtifactCreate,
    ArtifactMetadata,
    ArtifactMetadataGet,
    ArtifactRead,
    ArtifactUpload,
)
from parlour_sdk.protocol.content import ArtifactRef

from ...values import dataclass
from ..gate import Handler
from ..script import Failure
from ..sessions import Caller
from .state import decode_base64


@dataclass(frozen=True, slots=True)
class FakeArtifact:
    metadata: ArtifactMetadata
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()

    @property
    def ref(self) -> ArtifactRef:
        return ArtifactRef.model_validate(self.metadata.model_dump())

    def __repr__(self) -> str:
        details = self.metadata
        return (
            f"FakeArtifact({details.name or details.artifact_id!r}, {details.artifact_type}, {len(self.content)} bytes)"
        )


class Artifacts:
    def __init__(self, new_id: Callable[[str], str]) -> None:
        self._new_id = new_id
        self.stored: dict[str, FakeArtifact] = {}
        self._uploads: dict[str, bytes] = {}

    def handlers(self) -> dict[str, Handler]:
        return {"artifact_metadata": self._metadata, "artifact_read": self._read, "artifact_create": self._create}

    def store(self, content: bytes, artifact_type: str = "file", **facts: Any) -> FakeArtifact:
        metadata = ArtifactMetadata(
            **{
                "artifact_id": self._new_id("artifact"),
                "artifact_type": artifact_type,
                "size_bytes": len(content),
                "sha256": hashlib.sha256(content).hexdigest(),
                "source": "test",
                "created_at": int(time.time() * 1000),
                **{name: value for name, value in facts.items() if value is not None},
            }
        )
        self.stored[metadata.artifact_id] = artifact = FakeArtifact(metadata, content)
        return artifact

    def for_run(self, run_id: str) -> list[FakeArtifact]:
        return [each for each in self.stored.values() if each.metadata.run_id == run_id]

    async def _metadata(self, caller: Caller, request: ArtifactMetadataGet) -> ArtifactMetadata:
        return self._visible(caller, request.artifact_id).metadata

    async def _read(self, caller: Caller, request: ArtifactRead) -> ArtifactChunk:
        artifact = self._visible(caller, request.artifact_id)
        if request.as_text and not _is_text(artifact.content):
            raise Failure("invalid_argument", "this is no document that can be read").exception()
        piece = artifact.content[request.offset : request.offset + request.length]
        return ArtifactChunk(
            artifact_id=request.artifact_id,
            mime_type=artifact.metadata.mime_type,
            size_bytes=len(artifact.content),
            offset=request.offset,
            length=len(piece),
            content_base64=base64.b64encode(piece).decode(),
            has_more=request.offset + len(piece) < len(artifact.content),
        )

    async def _create(self, caller: Caller, request: ArtifactCreate) -> ArtifactUpload:
        content = self._uploads.pop(request.upload_id, None) if request.upload_id else b""
        if content is None:
            raise Failure("not_found", f"there is no upload '{request.upload_id}'").exception()
        content += decode_base64(request.content_base64)
        if not request.is_last:
            upload_id = request.upload_id or self._new_id("upload")
            self._uploads[upload_id] = content
            return ArtifactUpload(upload_id=upload_id)
        if request.sha256 not in (None, hashlib.sha256(content).hexdigest()):
            raise Failure("invalid_argument", "sha256 is not the digest of what was sent").exception()
        artifact = self.store(
            content,
            request.artifact_type,
            mime_type=request.mime_type,
            name=request.name,
            expires_at=request.expires_at,
            metadata=request.metadata,
            source="runner",
            conversation_id=caller.run.conversation_id,
            run_id=caller.run.run_id,
            runner_id=caller.run.runner_id,
        )
        return ArtifactUpload(artifact=artifact.metadata)

    def _visible(self, caller: Caller, artifact_id: str) -> FakeArtifact:
        artifact = self.stored.get(artifact_id)
        if artifact is not None:
            artifact_metadata, allowed_conversations = artifact.metadata, (None, caller.run.conversation_id)
            if artifact_metadata.conversation_id in allowed_conversations and not (
                artifact_metadata.expires_at and artifact_metadata.expires_at <= time.time() * 1000
            ):
                return artifact
        raise Failure("not_found", f"there is no artifact '{artifact_id}'").exception()


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
