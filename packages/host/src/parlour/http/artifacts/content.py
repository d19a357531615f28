"""Serves an artifact's bytes over HTTP: whole or as a range, never rendered as a page, and with an ETag to avoid
repeated transfers."""

import re
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.responses import StreamingResponse

from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.artifacts import Artifact
from parlour.core.store.media_types import BINARY, is_safe_inline
from parlour_sdk.values import dataclass

from ..errors import Problem

_RANGE = re.compile(r"bytes=([0-9]*)-([0-9]*)")
MAX_RANGE_DIGITS = 18


@dataclass(frozen=True, slots=True)
class ByteRange:
    start: int
    length: int


def content_response(artifacts: ArtifactService, artifact: Artifact, request: Request) -> Response:
    """Builds the response for an artifact whose content is available locally."""
    headers = _headers(artifact)
    if headers["etag"] in _parse_tags(request.headers.get("if-none-match", "")):
        return Response(status_code=304, headers=headers)
    byte_range = _range(artifact, request)
    if byte_range is None:
        part, status = ByteRange(0, artifact.size_bytes), 200
    else:
        part, status = byte_range, 206
        last = part.start + part.length - 1
        headers["content-range"] = f"bytes {part.start}-{last}/{artifact.size_bytes}"
    headers["content-length"] = str(part.length)
    if request.method == "HEAD":
        return Response(status_code=status, headers=headers)
    return StreamingResponse(artifacts.stream(artifact, part.start, part.length), status, headers)


def _headers(artifact: Artifact) -> dict[str, str]:
    info = artifact.info
    mime_type = info.mime_type or BINARY
    disposition = "inline" if is_safe_inline(mime_type) else "attachment"
    return {
        "content-type": f"{mime_type}; charset=utf-8" if mime_type.startswith("text/") else mime_type,
        "content-disposition": f"{disposition}; filename*=UTF-8''{quote(info.name or artifact.artifact_id, safe='')}",
        "etag": f'"{artifact.sha256}"',
        "accept-ranges": "bytes",
        "cache-control": "private, no-cache",
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; sandbox",
    }


def _parse_tags(tags: str) -> list[str]:
    return [tag.strip().removeprefix("W/") for tag in tags.split(",")]


def _range(artifact: Artifact, request: Request) -> ByteRange | None:
    """Parses the requested range. Returns None, which means the whole content, for several ranges, an unreadable header
    or a stale `If-Range`."""
    match = _RANGE.fullmatch(request.headers.get("range", "").replace(" ", ""))
    condition = request.headers.get("if-range")
    if match is None or (condition is not None and condition != f'"{artifact.sha256}"'):
        return None
    first, last = match.groups()
    size = artifact.size_bytes
    if not first and not last:
        return None
    if max(len(first), len(last)) > MAX_RANGE_DIGITS:
        raise _not_satisfiable(size)
    if not first:
        start, end = max(size - int(last), 0), size
    else:
        start, end = int(first), min(int(last) + 1, size) if last else size
    if start >= size or (last and first and int(last) < start):
        raise _not_satisfiable(size)
    return ByteRange(start, end - start)


def _not_satisfiable(size: int) -> Problem:
    message = f"the content has {size} bytes; ask for a range of these"
    return Problem(416, "range_not_satisfiable", message, {"size_bytes": size})
