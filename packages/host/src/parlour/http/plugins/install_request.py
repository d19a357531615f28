"""Reads an installation request: JSON that names a source, or a form with an uploaded file."""

import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

from parlour_sdk.values import dataclass

from ..body_limit import body_too_large
from ..errors import Problem, upload_not_stored
from ..multipart import read_form, upload_directory
from .schemas import InstallBody, UploadFields

MAX_JSON_BYTES = 1024 * 1024
"""Maximum size of a JSON body. The path accepts large uploads, so the general body limit does not apply."""

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class PluginInstallRequest:
    source: str
    file_name: str | None
    granted: list[str] | None
    upgrade: str | None


@contextlib.asynccontextmanager
async def read_install_request(request: Request, uploads: Path) -> AsyncIterator[PluginInstallRequest]:
    """Reads the request. An uploaded file exists until the end of the block."""
    content_type = request.headers.get("content-type", "")
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "application/json":
        body = _validate(InstallBody, _json(await _read_body(request), "body"))
        yield PluginInstallRequest(body.source, None, body.granted, body.upgrade)
    elif kind == "multipart/form-data":
        with upload_directory(uploads) as folder:
            yield await _read_upload(request, content_type, Path(folder) / "upload.zip")
    else:
        message = "send JSON that names a 'source', or multipart/form-data with a zip in the field 'file'"
        raise Problem(415, "unsupported_media_type", message)


async def _read_body(request: Request) -> bytes:
    content = b""
    async for chunk in request.stream():
        content += chunk
        if len(content) > MAX_JSON_BYTES:
            raise body_too_large(MAX_JSON_BYTES)
    return content


async def _read_upload(request: Request, content_type: str, target: Path) -> PluginInstallRequest:
    try:
        form = await read_form(request.stream(), content_type, "file", target)
    except OSError as error:
        raise upload_not_stored(error) from error
    if form.file_name is None:
        raise Problem(422, "invalid_argument", "file: send the plugin's zip in the field 'file'")
    texts: dict[str, Any] = dict(form.texts)
    if "granted" in texts:
        texts["granted"] = _json(texts["granted"], "granted")
    fields = _validate(UploadFields, texts)
    return PluginInstallRequest(str(target), form.file_name, fields.granted, fields.upgrade)


def _json(text: str | bytes, field: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise Problem(422, "invalid_argument", f"{field}: this is not JSON") from error


def _validate(model: type[Model], content: Any) -> Model:
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_input=False)) from error
