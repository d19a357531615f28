"""Reads the source of a request for skills: a folder, a git address, or an uploaded zip."""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from parlour.core.model.skill import SkillSource
from parlour.core.skills.archive import read_archive
from parlour.core.skills.folder import read_folder
from parlour.core.skills.limits import MAX_ARCHIVE_BYTES, SkillInvalid
from parlour.core.skills.package import Files
from parlour_sdk.values import dataclass

from ..body_limit import body_too_large
from ..errors import Problem, invalid_field, upload_not_stored
from ..multipart import read_form, upload_directory
from .schemas import SkillSourceBody

MAX_JSON_BYTES = 1024 * 1024
GIT_PREFIXES = ("git+", "https://", "ssh://")
JSON_FIELDS = ("source_paths", "replace")
"""Fields of a form whose text is JSON."""

Body = TypeVar("Body", bound=SkillSourceBody)
FetchFromGit = Callable[[str, Path], Awaitable[tuple[Files, str]]]


@dataclass(frozen=True, slots=True)
class SkillUpload:
    """The files of a source, and where they come from."""

    files: Files
    source: SkillSource


class SkillSources:
    """Reads sources."""

    def __init__(self, uploads: Path, fetch_from_git: FetchFromGit) -> None:
        self._uploads = uploads
        self._fetch_from_git = fetch_from_git

    @asynccontextmanager
    async def read(self, request: Request, model: type[Body]) -> AsyncIterator[tuple[Body, SkillUpload]]:
        """Yields the fields of a request, and the files that it names or has. Raises Problem or SkillInvalid."""
        content_type = request.headers.get("content-type", "")
        match content_type.partition(";")[0].strip().lower():
            case "application/json":
                body = _validate(model, _json("body", await _read_body(request)))
                yield body, await self._named(body.source)
            case "multipart/form-data":
                yield await self._uploaded(request, content_type, model)
            case _:
                message = "send JSON that names a 'source', or multipart/form-data with a zip in the field 'file'"
                raise Problem(415, "unsupported_media_type", message)

    async def _named(self, source: str) -> SkillUpload:
        if not source or "\0" in source:
            raise invalid_field("source", "name a folder or a git address, or upload a zip in the field 'file'")
        if source.startswith(GIT_PREFIXES):
            with tempfile.TemporaryDirectory(dir=self._uploads) as folder:
                files, address = await self._fetch_from_git(source, Path(folder))
                return SkillUpload(files, SkillSource("git", address))
        path = Path(source)
        if not path.is_absolute() or not await asyncio.to_thread(path.is_dir):
            raise SkillInvalid(f"{source[:200]} is no folder of the Host's machine; write its whole path")
        return SkillUpload(await asyncio.to_thread(read_folder, path), SkillSource("folder", source))

    async def _uploaded(self, request: Request, content_type: str, model: type[Body]) -> tuple[Body, SkillUpload]:
        with upload_directory(self._uploads) as folder:
            target = Path(folder) / "upload.zip"
            try:
                form = await read_form(request.stream(), content_type, "file", target)
            except OSError as error:
                raise upload_not_stored(error) from error
            if form.file_name is None:
                raise invalid_field("file", "send the zip in the field 'file'")
            fields: dict[str, Any] = {
                name: _json(name, text) if name in JSON_FIELDS else text for name, text in form.texts.items()
            }
            body = _validate(model, fields)
            if target.stat().st_size > MAX_ARCHIVE_BYTES:
                raise SkillInvalid(f"the zip has more than {MAX_ARCHIVE_BYTES} bytes")
            files = await asyncio.to_thread(lambda: read_archive(target.read_bytes()))
            return body, SkillUpload(files, SkillSource("zip", form.file_name[:200]))


async def _read_body(request: Request) -> bytes:
    content = b""
    async for chunk in request.stream():
        content += chunk
        if len(content) > MAX_JSON_BYTES:
            raise body_too_large(MAX_JSON_BYTES)
    return content


def _json(field: str, text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise invalid_field(field, "this is not JSON") from error


def _validate(model: type[Body], content: Any) -> Body:
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_input=False)) from error
