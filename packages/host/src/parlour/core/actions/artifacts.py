"""Actions for the files of a run: it reads visible artifacts in chunks, and creates artifacts from uploaded chunks.

An artifact exists only when its last chunk has arrived.
"""

import base64
import binascii

from parlour.core.errors import CallRejected
from parlour.core.journal import Journal, Unit
from parlour.core.model.ids import ArtifactId
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.providers import Documents
from parlour.core.runs.attachments import owned_scope, readable_scope
from parlour.core.runs.caller import ActionCaller
from parlour.core.runs.document_texts import read_document
from parlour.core.store import ledger
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.artifacts import Artifact, ArtifactInfo
from parlour.core.store.uploads import ArtifactWriter
from parlour_sdk.protocol.artifacts import (
    ArtifactChunk,
    ArtifactCreate,
    ArtifactMetadata,
    ArtifactMetadataGet,
    ArtifactRead,
    ArtifactUpload,
)

from .handlers import Handler

MAX_OPEN_UPLOADS = 16
"""Maximum number of unfinished uploads of a run."""


class ArtifactActions:
    def __init__(
        self, artifacts: ArtifactService, documents: Documents, journal: Journal, ids: Ids, clock: Clock
    ) -> None:
        self._artifacts = artifacts
        self._documents = documents
        self._journal = journal
        self._ids = ids
        self._clock = clock

    def handlers(self) -> dict[str, Handler]:
        return {
            "artifact_metadata": self.metadata,
            "artifact_read": self.read,
            "artifact_create": self.create,
        }

    async def metadata(self, caller: ActionCaller, request: ArtifactMetadataGet) -> ArtifactMetadata:
        return _metadata(
            await self._artifacts.get_visible(ArtifactId(request.artifact_id), readable_scope(caller.run_session))
        )

    async def read(self, caller: ActionCaller, request: ArtifactRead) -> ArtifactChunk:
        artifact = await self._artifacts.ensure_local(
            await self._artifacts.get_visible(ArtifactId(request.artifact_id), readable_scope(caller.run_session))
        )
        if request.as_text:
            whole = await read_document(self._documents, self._artifacts, artifact)
            chunk, size = whole[request.offset : request.offset + request.length], len(whole)
        else:
            chunk, size = await self._artifacts.read(artifact, request.offset, request.length), artifact.size_bytes
        return ArtifactChunk(
            artifact_id=artifact.artifact_id,
            mime_type="text/plain" if request.as_text else artifact.info.mime_type,
            size_bytes=size,
            offset=request.offset,
            length=len(chunk),
            content_base64=base64.b64encode(chunk).decode(),
            has_more=request.offset + len(chunk) < size,
        )

    async def create(self, caller: ActionCaller, request: ArtifactCreate) -> ArtifactUpload:
        """Adds a chunk to an upload. A chunk that fails ends its upload, so nothing is left half done."""
        content = _decoded(request.content_base64)
        if request.expires_at is not None and request.expires_at <= self._clock.now():
            raise CallRejected("invalid_argument", "expires_at: name a time to come, in epoch milliseconds, or none")
        uploads = caller.run_session.uploads
        upload_id, upload = await self._claim_upload(uploads, request.upload_id)
        await upload.write(content)
        if caller.run_session.ended.is_set():
            upload.abort()
            raise CallRejected("unauthorized", "no active run has this id")
        if not request.is_last:
            uploads[upload_id] = upload
            return ArtifactUpload(upload_id=upload_id)
        return ArtifactUpload(artifact=_metadata(await self._store(caller, upload, request)))

    async def _claim_upload(
        self, uploads: dict[str, ArtifactWriter], upload_id: str | None
    ) -> tuple[str, ArtifactWriter]:
        """Removes the upload from the run while a chunk is written, so that two chunks at the same time don't mix."""
        if upload_id is None:
            if len(uploads) >= MAX_OPEN_UPLOADS:
                raise CallRejected(
                    "rate_limited", f"a run sends at most {MAX_OPEN_UPLOADS} files at once; finish one first"
                )
            return self._ids.new(), await self._artifacts.start_upload()
        upload = uploads.pop(upload_id, None)
        if upload is None:
            raise CallRejected("not_found", f"there is no upload '{upload_id[:64]}'; begin again without an upload_id")
        return upload_id, upload

    async def _store(self, caller: ActionCaller, upload: ArtifactWriter, request: ArtifactCreate) -> Artifact:
        info = ArtifactInfo(
            request.artifact_type,
            request.name or "",
            request.mime_type or "",
            expires_at=request.expires_at or 0,
            metadata=request.metadata,
        )
        artifact = await self._artifacts.finish_upload(
            upload, info, owned_scope(caller.run_session), sha256=request.sha256 or ""
        )
        caller.run_session.has_effects = True
        progress = ledger.update_progress(caller.run_session.run_id, self._clock.now(), has_effects=True)
        await self._journal.commit(Unit("artifact.create", (progress, artifact.insert())))
        return artifact


def _metadata(artifact: Artifact) -> ArtifactMetadata:
    return ArtifactMetadata.model_validate(artifact.to_metadata())


def _decoded(content: str) -> bytes:
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        raise CallRejected("invalid_argument", "content_base64 is not base64") from None
