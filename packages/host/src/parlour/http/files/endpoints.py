"""Endpoints for uploads: written to disk as they arrive, visible to the uploader until one of their messages uses
them."""

import asyncio
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Request, Response
from fastapi import Path as InPath

from parlour.core.journal import GuardFailed, Journal, Unit
from parlour.core.model.ids import ArtifactId
from parlour.core.model.ports import Clock
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.artifacts import Artifact, ArtifactInfo, ArtifactScope
from parlour.core.store.objects import CHUNK_BYTES

from ..api_router import ApiRouter
from ..artifacts.access import ArtifactAccess
from ..artifacts.endpoints import to_response as artifact_response
from ..artifacts.responses import UploadedFileResponse
from ..auth import ChatUser, Reader
from ..errors import Problem, not_found, upload_not_stored
from ..multipart import read_form, upload_directory
from ..principals import Principal

FilePath = Annotated[ArtifactId, InPath(max_length=64)]
BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "mime_type": {"type": "string", "description": "Believed where the content does not tell"},
                    },
                }
            }
        },
    }
}


def router(
    artifacts: ArtifactService, access: ArtifactAccess, journal: Journal, clock: Clock, uploads: Path, unclaimed: int
) -> APIRouter:
    """`unclaimed` is the time in milliseconds after which an upload expires if no message uses it."""
    routes = ApiRouter(tags=["files"])

    async def visible(file_id: ArtifactId, principal: Principal) -> Artifact:
        artifact = await artifacts.get(file_id)
        upload = artifact is not None and artifact.info.source == "upload"
        if artifact is None or not upload or not await access.allows(principal, artifact):
            raise not_found(f"file '{file_id}'", "send it again with POST /api/v1/files")
        return artifact

    @routes.post("/files", status_code=201, openapi_extra=BODY)
    async def upload_file(request: Request, principal: ChatUser) -> UploadedFileResponse:
        """One file in the field 'file'. A message takes it along by naming its id as `artifact_id`."""
        with upload_directory(uploads) as folder:
            target = Path(folder) / "upload"
            name, mime_type = await _read_upload(request, target)
            expires_at = clock.now() + unclaimed
            info = ArtifactInfo("file", name, mime_type, "upload", expires_at)
            artifact = await _store(artifacts, target, info, principal)
        await journal.commit(Unit("file.create", (artifact.insert(),)))
        return to_response(artifact)

    @routes.get("/files/{file_id}")
    async def read_file(file_id: FilePath, principal: Reader) -> UploadedFileResponse:
        return to_response(await visible(file_id, principal))

    @routes.delete("/files/{file_id}", status_code=204)
    async def delete_file(file_id: FilePath, principal: ChatUser) -> Response:
        """Also from the conversation that has it: who sent it takes it back."""
        artifact = await visible(file_id, principal)
        if not principal.may("operator") and not access.owns(principal, artifact):
            raise not_found(f"file '{file_id}'", "send it again with POST /api/v1/files")
        try:
            await artifacts.remove(artifact)
        except GuardFailed:
            raise not_found(f"file '{file_id}'", "it was deleted just now") from None
        return Response(status_code=204)

    return routes


def to_response(artifact: Artifact) -> UploadedFileResponse:
    content = f"/api/v1/artifacts/{artifact.artifact_id}/content"
    return {"file_id": artifact.artifact_id, "content": content, **artifact_response(artifact)}


async def _read_upload(request: Request, target: Path) -> tuple[str, str]:
    content_type = request.headers.get("content-type", "")
    if content_type.partition(";")[0].strip().lower() != "multipart/form-data":
        raise Problem(415, "unsupported_media_type", "send multipart/form-data with the file in the field 'file'")
    try:
        form = await read_form(request.stream(), content_type, "file", target)
    except OSError as error:
        raise upload_not_stored(error) from error
    if form.file_name is None:
        raise Problem(422, "invalid_argument", "file: send one file in the field 'file'")
    unknown = sorted(form.texts.keys() - {"mime_type"})
    if unknown:
        fields = "the fields are 'file' and 'mime_type'"
        raise Problem(422, "invalid_argument", f"{unknown[0][:64]}: there is no such field; {fields}")
    return form.file_name, form.texts.get("mime_type", "")


async def _store(artifacts: ArtifactService, source: Path, info: ArtifactInfo, principal: Principal) -> Artifact:
    incoming = await artifacts.start_upload()
    try:
        with source.open("rb") as file:
            while block := await asyncio.to_thread(file.read, CHUNK_BYTES):
                await incoming.write(block)
    except BaseException:
        incoming.abort()
        raise
    return await artifacts.finish_upload(incoming, info, ArtifactScope(), principal.owner)
