"""Actions for the files of a run: it reads visible artifacts in chunks, and creates artifacts from uploaded chunks.

An artifact exists only when its last chunk has arrived.
"""

import base64
import binascii

from parlour.core.errors import Refused
from parlour.core.journal import Journal, Unit
from parlour.core.model.ports import Clock, Ids
from parlour.core.runs.attachments import home_of, place_of
from parlour.core.runs.caller import Caller
from parlour.core.store import ledger
from parlour.core.store.artifact_service import Artifacts
from parlour.core.store.artifacts import Artifact, Description
from parlour.core.store.uploads import Incoming
from parlour_sdk.protocol.artifacts import (
    ArtifactChunk,
    ArtifactCreate,
    ArtifactMetadata,
    ArtifactMetadataGet,
    ArtifactRead,
    ArtifactUpload,
)

UPLOADS_AT_ONCE = 16
"""Maximum number of unfinished uploads of a run."""


class ArtifactActions:
    def __init__(self, kept: Artifacts, journal: Journal, ids: Ids, clock: Clock) -> None:
        self._kept = kept
        self._journal = journal
        self._ids = ids
        self._clock = clock

    async def metadata(self, caller: Caller, request: ArtifactMetadataGet) -> ArtifactMetadata:
        return _metadata(await self._kept.visible(request.artifact_id, place_of(caller.run)))

    async def read(self, caller: Caller, request: ArtifactRead) -> ArtifactChunk:
        artifact = await self._kept.present(await self._kept.visible(request.artifact_id, place_of(caller.run)))
        piece = await self._kept.read(artifact, request.offset, request.length)
        return ArtifactChunk(
            artifact_id=artifact.artifact_id,
            mime_type=artifact.description.mime_type,
            size_bytes=artifact.size_bytes,
            offset=request.offset,
            length=len(piece),
            content_base64=base64.b64encode(piece).decode(),
            has_more=request.offset + len(piece) < artifact.size_bytes,
        )

    async def create(self, caller: Caller, request: ArtifactCreate) -> ArtifactUpload:
        """Adds a chunk to an upload. A chunk that fails ends its upload, so nothing is left half done."""
        content = _decoded(request.content_base64)
        if request.expires_at is not None and request.expires_at <= self._clock.now():
            raise Refused("invalid_argument", "expires_at: name a time to come, in epoch milliseconds, or none")
        uploads = caller.run.uploads
        upload_id, incoming = await self._upload(uploads, request.upload_id)
        await incoming.write(content)
        if caller.run.ended.is_set():
            incoming.abandon()
            raise Refused("unauthorized", "no active run has this id")
        if not request.is_last:
            uploads[upload_id] = incoming
            return ArtifactUpload(upload_id=upload_id)
        return ArtifactUpload(artifact=_metadata(await self._made(caller, incoming, request)))

    async def _upload(self, uploads: dict[str, Incoming], upload_id: str | None) -> tuple[str, Incoming]:
        """Removes the upload from the run while a chunk is written, so that two chunks at the same time don't mix."""
        if upload_id is None:
            if len(uploads) >= UPLOADS_AT_ONCE:
                raise Refused("rate_limited", f"a run sends at most {UPLOADS_AT_ONCE} files at once; finish one first")
            return self._ids.new(), await self._kept.begin()
        incoming = uploads.pop(upload_id, None)
        if incoming is None:
            raise Refused("not_found", f"there is no upload '{upload_id[:64]}'; begin again without an upload_id")
        return upload_id, incoming

    async def _made(self, caller: Caller, incoming: Incoming, request: ArtifactCreate) -> Artifact:
        described = Description(
            request.artifact_type,
            request.name or "",
            request.mime_type or "",
            expires_at=request.expires_at or 0,
            metadata=request.metadata,
        )
        artifact = await self._kept.made(incoming, described, home_of(caller.run), sha256=request.sha256 or "")
        caller.run.effects = True
        touch = ledger.touch(caller.run.run_id, self._clock.now(), effects=True)
        await self._journal.commit(Unit("artifact.create", (touch, artifact.insert())))
        return artifact


def _metadata(artifact: Artifact) -> ArtifactMetadata:
    return ArtifactMetadata.model_validate(artifact.told())


def _decoded(content: str) -> bytes:
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        raise Refused("invalid_argument", "content_base64 is not base64") from None
