"""Endpoints of the files of a knowledge base, and of their passages."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Query, Request, Response
from fastapi import Path as InPath
from pydantic import ValidationError

from parlour.core.access import audit
from parlour.core.encoding import loads
from parlour.core.jobs.jobs import Jobs
from parlour.core.journal import GuardFailed, Insert, where
from parlour.core.knowledge.ports import KnowledgeFailed
from parlour.core.knowledge.records import restore_file
from parlour.core.knowledge.service import FileExists, NewFile
from parlour.core.model.ids import ArtifactId, ChunkId, JobId, KnowledgeFileId
from parlour.core.model.knowledge import BaseFile, KnowledgeBase
from parlour.core.model.ports import Clock
from parlour.core.model.providers import ProviderFailed
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.objects import CHUNK_BYTES
from parlour.core.store.tables import KNOWLEDGE_CHUNKS, KNOWLEDGE_FILES

from ..api_router import ApiRouter
from ..artifacts.access import ArtifactAccess
from ..artifacts.content import content_response
from ..auth import Operator, Viewer
from ..errors import Problem, invalid_field, not_found
from ..multipart import read_form, upload_directory
from ..pagination import Cursor, Limit, Pages
from ..principals import Principal
from ..responses import PageResponse
from .access import KnowledgeAccess, to_problem
from .endpoints import KbPath
from .plugins import PluginKnowledge
from .responses import ChunkResponse, KnowledgeFileResponse, chunk_response, file_response
from .schemas import ChunkChangeBody, NewChunkBody, NewFileBody

FilePath = Annotated[KnowledgeFileId, InPath(max_length=64)]
ChunkPath = Annotated[ChunkId, InPath(max_length=64)]
Replace = Annotated[bool, Query(description="Replaces the file of this name, which can be found until then")]
FORM_FIELDS = frozenset(("mime_type", "metadata", "chunker", "parser"))
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
                        "metadata": {"type": "string", "description": "A JSON object that searches can filter by"},
                        "chunker": {"type": "string", "enum": ["general", "qa", "rows"]},
                        "parser": {"type": "string", "description": "`author/plugin.parser`, or `builtin`"},
                    },
                }
            },
            "application/json": {"schema": NewFileBody.model_json_schema()},
        },
    }
}


class FileUploads:
    """Reads the files of requests."""

    def __init__(
        self,
        access: KnowledgeAccess,
        plugins: PluginKnowledge,
        artifacts: ArtifactService,
        owners: ArtifactAccess,
        uploads: Path,
    ) -> None:
        self._plugins = plugins
        self._access = access
        self._artifacts = artifacts
        self._owners = owners
        self._uploads = uploads

    async def add(
        self, base: KnowledgeBase, request: Request, principal: Principal, replaces: bool, entry: Insert
    ) -> BaseFile:
        """Adds the file of a request. Raises Problem."""
        self._plugins.check_takes_files(base)
        content_type = request.headers.get("content-type", "")
        is_form = content_type.partition(";")[0].strip().lower() == "multipart/form-data"
        try:
            if is_form:
                return await self._add_form(base, request, content_type, replaces, entry)
            return await self._add_named(base, await _json_body(request), principal, replaces, entry)
        except KnowledgeFailed as failure:
            raise to_problem(failure) from failure
        except FileExists as exists:
            message = (
                f"the base has this file already as '{exists.file.file_id}'; add ?replace=true to take it up again"
            )
            raise Problem(409, "exists", message, {"file_id": exists.file.file_id}) from exists

    async def _add_form(
        self, base: KnowledgeBase, request: Request, content_type: str, replaces: bool, entry: Insert
    ) -> BaseFile:
        with upload_directory(self._uploads) as folder:
            target = Path(folder) / "upload"
            form = await read_form(request.stream(), content_type, "file", target)
            if form.file_name is None:
                raise invalid_field("file", "send one file in the field 'file'")
            unknown = sorted(form.texts.keys() - FORM_FIELDS)
            if unknown:
                raise invalid_field(unknown[0][:64], f"there is no such field; there are {', '.join(FORM_FIELDS)}")
            body = _form_body(form.texts)
            new = NewFile(
                form.file_name,
                mime_type=form.texts.get("mime_type", ""),
                metadata=body.metadata,
                options=self._plugins.checked_options(_options(body)),
                replaces=replaces,
            )
            return await self._access.service.add_file(base, new, _blocks(target), entry)

    async def _add_named(
        self, base: KnowledgeBase, body: NewFileBody, principal: Principal, replaces: bool, entry: Insert
    ) -> BaseFile:
        given = [name for name in ("artifact_id", "url", "text") if getattr(body, name) is not None]
        if len(given) != 1:
            raise invalid_field("body", "name one of artifact_id, url and text")
        if body.refresh_days is not None and body.url is None:
            raise invalid_field("refresh_days", "only web pages are fetched again")
        values: dict[str, Any] = {
            "metadata": body.metadata,
            "options": self._plugins.checked_options(_options(body)),
            "replaces": replaces,
        }
        service = self._access.service
        if body.url is not None:
            name = body.name or _page_name(body.url)
            return await service.add_file(base, NewFile(name, "url", "text/html", body.url, **values), None, entry)
        if body.text is not None:
            if body.name is None:
                raise invalid_field("name", "a text needs a name")
            new = NewFile(body.name, "text", "text/markdown", **values)
            return await service.add_file(base, new, _one_block(body.text.encode("utf-8", "replace")), entry)
        artifact = await self._artifacts.get(ArtifactId(body.artifact_id or ""))
        if artifact is None or not await self._owners.allows(principal, artifact):
            raise not_found(f"artifact '{body.artifact_id}'", "upload the file with POST /api/v1/files first")
        try:
            artifact = await self._artifacts.ensure_local(artifact)
        except ProviderFailed as failure:
            raise KnowledgeFailed("file.missing", failure.message) from failure
        new = NewFile(body.name or artifact.info.name or "file", mime_type=artifact.info.mime_type, **values)
        return await service.add_file(base, new, self._artifacts.stream(artifact, 0, artifact.size_bytes), entry)


def router(
    access: KnowledgeAccess, uploads: FileUploads, artifacts: ArtifactService, jobs: Jobs, pages: Pages, clock: Clock
) -> APIRouter:
    routes = ApiRouter(tags=["knowledge"])

    def entry(principal: Principal, action: str, resource: str, before: Any = None, after: Any = None) -> Insert:
        return audit.change_entry(principal.owner, action, resource, before, after, clock.now())

    async def view(file: BaseFile) -> KnowledgeFileResponse:
        is_running = file.state in ("pending", "processing")
        job = await jobs.get(JobId(file.job_id)) if is_running and file.job_id else None
        return file_response(file, job.progress if job is not None else None)

    @routes.post("/knowledge-bases/{kb_id}/files", status_code=201, openapi_extra=BODY)
    async def add_knowledge_file(
        kb_id: KbPath, request: Request, principal: Operator, replace: Replace = False
    ) -> KnowledgeFileResponse:
        """A multipart form with the field `file`, or JSON that names an artifact, a web page, or holds text."""
        base = access.base(kb_id)
        note = entry(principal, "knowledge_file.create", kb_id)
        return await view(await uploads.add(base, request, principal, replace, note))

    @routes.get("/knowledge-bases/{kb_id}/files")
    async def list_knowledge_files(
        kb_id: KbPath, principal: Viewer, limit: Limit = 50, cursor: Cursor = None
    ) -> PageResponse[KnowledgeFileResponse]:
        """Newest first."""
        access.base(kb_id)
        page = await pages.page(KNOWLEDGE_FILES, where(kb_id=kb_id), "file_id", restore_file, limit, cursor)
        return {"items": [await view(file) for file in page["items"]], "next_cursor": page["next_cursor"]}

    @routes.get("/knowledge-bases/{kb_id}/files/{file_id}")
    async def read_knowledge_file(kb_id: KbPath, file_id: FilePath, principal: Viewer) -> KnowledgeFileResponse:
        _, file = await access.file(kb_id, file_id)
        return await view(file)

    @routes.delete("/knowledge-bases/{kb_id}/files/{file_id}", status_code=204)
    async def delete_knowledge_file(kb_id: KbPath, file_id: FilePath, principal: Operator) -> Response:
        """Also in the middle of its processing."""
        while True:
            _, file = await access.file(kb_id, file_id)
            note = entry(principal, "knowledge_file.delete", file_id, {"name": file.name, "kb_id": kb_id})
            try:
                await access.service.remove_file(file, note)
            except GuardFailed:
                continue  # its job was finished just now
            return Response(status_code=204)

    @routes.post("/knowledge-bases/{kb_id}/files/{file_id}/retry", status_code=202)
    async def retry_knowledge_file(kb_id: KbPath, file_id: FilePath, principal: Operator) -> KnowledgeFileResponse:
        """Takes the file up again; a web page is fetched again."""
        _, file = await access.file(kb_id, file_id)
        try:
            return await view(await access.service.retry(file, entry(principal, "knowledge_file.retry", file_id)))
        except KnowledgeFailed as failure:
            raise to_problem(failure) from failure

    @routes.get("/knowledge-bases/{kb_id}/files/{file_id}/content", response_class=Response)
    async def read_knowledge_file_content(
        kb_id: KbPath, file_id: FilePath, principal: Viewer, request: Request
    ) -> Response:
        _, file = await access.file(kb_id, file_id)
        artifact = await artifacts.get(ArtifactId(file.artifact_id)) if file.artifact_id else None
        if artifact is None:
            raise not_found(f"the content of file '{file_id}'", "it was not fetched yet")
        return content_response(artifacts, await artifacts.ensure_local(artifact), request)

    @routes.get("/knowledge-bases/{kb_id}/files/{file_id}/chunks")
    async def list_knowledge_chunks(
        kb_id: KbPath, file_id: FilePath, principal: Viewer, limit: Limit = 50, cursor: Cursor = None
    ) -> PageResponse[ChunkResponse]:
        """The passages of a file, in order."""
        _, file = await access.file(kb_id, file_id)
        conditions = where(file_id=file_id, generation=file.generation)
        return await pages.page(
            KNOWLEDGE_CHUNKS, conditions, "position", chunk_response, limit, cursor, direction="ascending"
        )

    @routes.post("/knowledge-bases/{kb_id}/files/{file_id}/chunks", status_code=201)
    async def add_knowledge_chunk(
        kb_id: KbPath, file_id: FilePath, body: NewChunkBody, principal: Operator
    ) -> ChunkResponse:
        """A passage of one's own; it is lost when the file is taken up again."""
        _, file = await access.file(kb_id, file_id)
        note = entry(principal, "knowledge_chunk.create", file_id, None, {"text": body.text[:200]})
        try:
            chunk_id = await access.service.add_chunk(file, body.text, body.heading, note)
        except GuardFailed:
            raise Problem(409, "conflict", "the file was changed in the meantime; try again") from None
        return chunk_response(await access.chunk(kb_id, file_id, chunk_id))

    @routes.get("/knowledge-bases/{kb_id}/files/{file_id}/chunks/{chunk_id}")
    async def read_knowledge_chunk(
        kb_id: KbPath, file_id: FilePath, chunk_id: ChunkPath, principal: Viewer
    ) -> ChunkResponse:
        return chunk_response(await access.chunk(kb_id, file_id, chunk_id))

    @routes.patch("/knowledge-bases/{kb_id}/files/{file_id}/chunks/{chunk_id}")
    async def change_knowledge_chunk(
        kb_id: KbPath, file_id: FilePath, chunk_id: ChunkPath, body: ChunkChangeBody, principal: Operator
    ) -> ChunkResponse:
        """Changes its text or hints, or whether it can be found."""
        row = await access.chunk(kb_id, file_id, chunk_id)
        changes: dict[str, Any] = body.model_dump(exclude_none=True)
        if "enabled" in changes:
            changes["enabled"] = int(changes["enabled"])
        if changes:
            before = {name: row[name] for name in changes}
            note = entry(principal, "knowledge_chunk.change", chunk_id, before, changes)
            try:
                await access.service.change_chunk(row, changes, note)
            except GuardFailed:
                raise Problem(409, "conflict", "the passage was changed in the meantime; read it again") from None
        return chunk_response(await access.chunk(kb_id, file_id, chunk_id))

    return routes


async def _json_body(request: Request) -> NewFileBody:
    content = b"".join([block async for block in request.stream()])
    try:
        return NewFileBody.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        raise invalid_field(".".join(map(str, first["loc"])) or "body", first["msg"]) from error


def _form_body(texts: Mapping[str, str]) -> NewFileBody:
    values: dict[str, Any] = {"chunker": texts.get("chunker"), "parser": texts.get("parser")}
    try:
        values["metadata"] = loads(texts["metadata"]) if "metadata" in texts else {}
        return NewFileBody.model_validate(values)
    except ValidationError as error:
        raise invalid_field(str(error.errors()[0]["loc"][0]), error.errors()[0]["msg"]) from error
    except ValueError as error:
        raise invalid_field("metadata", "it must be a JSON object") from error


def _options(body: NewFileBody) -> dict[str, Any]:
    names = ("chunker", "parser", "refresh_days")
    return {name: getattr(body, name) for name in names if getattr(body, name) is not None}


def _page_name(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname or ''}{parts.path.rstrip('/')}"[:200] or "page"


async def _blocks(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while block := await asyncio.to_thread(file.read, CHUNK_BYTES):
            yield block


async def _one_block(content: bytes) -> AsyncIterator[bytes]:
    yield content
