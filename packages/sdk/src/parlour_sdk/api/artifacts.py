"""Reads and creates artifacts (files, media, large results) in chunks."""

import hashlib
import mimetypes
from base64 import b64encode
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

from parlour_sdk.protocol.artifacts import (
    ArtifactChunk,
    ArtifactCreate,
    ArtifactMetadata,
    ArtifactMetadataGet,
    ArtifactRead,
    ArtifactUpload,
)

from .calls import Namespace, refusal
from .chunks import CHUNK_BYTES, ChunkPacer, Content, iter_chunks


class ArtifactsAPI(Namespace):
    async def metadata(self, artifact_id: str) -> ArtifactMetadata:
        return await self._calls.call(
            "artifact_metadata", ArtifactMetadataGet, ArtifactMetadata, artifact_id=artifact_id
        )

    async def read(
        self, artifact_id: str, offset: int = 0, length: int = 65536, as_text: bool = False
    ) -> ArtifactChunk:
        """Reads one chunk; its bytes are `.content`. `as_text` reads the text of a document instead of its bytes."""
        return await self._calls.call(
            "artifact_read",
            ArtifactRead,
            ArtifactChunk,
            artifact_id=artifact_id,
            offset=offset,
            length=length,
            as_text=as_text,
        )

    async def stream(self, artifact_id: str) -> AsyncGenerator[bytes, None]:
        """Yields the whole content, chunk by chunk."""
        offset, has_more = 0, True
        pace = ChunkPacer()
        while has_more:
            await pace.wait_for_turn()
            chunk = await self.read(artifact_id, offset, CHUNK_BYTES)
            has_more = chunk.has_more
            if chunk.content:
                offset += len(chunk.content)
                yield chunk.content
            elif has_more:
                raise refusal("runtime_error", f"the Host gave nothing of artifact {artifact_id} and promised more")

    async def create(
        self,
        content: Content,
        artifact_type: str = "file",
        *,
        mime_type: str | None = None,
        name: str | None = None,
        expires_at: int | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> ArtifactMetadata:
        """Stores content of any size: bytes, a path or an async iterator of bytes.

        The artifact exists once the last chunk has been received. The name defaults to that of the path, and the MIME
        type to the one of the name's extension.
        """
        if isinstance(content, Path):
            name = content.name if name is None else name
        if mime_type is None and name is not None:
            mime_type = mimetypes.guess_type(name)[0]
        digest = hashlib.sha256()
        upload_id: str | None = None
        pace = ChunkPacer()
        async with aclosing(iter_chunks(content, "artifact_create")) as parts:
            async for piece, last in parts:
                await pace.wait_for_turn()
                digest.update(piece)
                answer = await self._calls.call(
                    "artifact_create",
                    ArtifactCreate,
                    ArtifactUpload,
                    artifact_type=artifact_type,
                    content_base64=b64encode(piece).decode(),
                    mime_type=mime_type,
                    name=name,
                    sha256=digest.hexdigest() if last else None,
                    expires_at=expires_at,
                    metadata=metadata or {},
                    upload_id=upload_id,
                    is_last=last,
                )
                upload_id = answer.upload_id
        if answer.artifact is None:
            raise refusal("runtime_error", "the Host took the whole artifact and did not name it")
        return answer.artifact
