"""Answers the requests of browsers for the files of the page."""

import hashlib
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import FileResponse, PlainTextResponse, Response

from .files import INDEX, PageFile, PageFiles

NOT_BUILT = "The page is not built. Build it with 'make web' and load this again; the interface is at /api/v1."
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "frame-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""Loads nothing from other sites and runs no inline script, so that content injected into the page is never
executed. Frames are the pages of plugins, which can't leave this Host for another site."""
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
INDEX_NAME = INDEX.removeprefix("/")
RELATIVE_REFERENCE = b'="./'
"""Prefix of relative references in the index: files of the page, and the page's own path in `<meta
name="base-path">`."""
NON_PAGE_PREFIXES = ("/api/", "/healthz", "/readyz", "/metrics", "/v1/", "/a2a/", "/agui/")
"""Prefixes of paths that never belong to the page."""


class PageServer:
    def __init__(self, folder: Path, prefix: str = "") -> None:
        """`prefix`: the path below which browsers see the page, such as /chat."""
        self._files = PageFiles(folder)
        self._prefix = prefix

    def response(self, scope: MutableMapping[str, Any]) -> Response | None:
        """Returns the response to a request for the page; None if the request is not for the page."""
        path: str = scope["path"]
        if path.startswith(NON_PAGE_PREFIXES) or scope["method"] not in ("GET", "HEAD"):
            return None
        headers = Headers(scope=scope)
        file = self._files.get(path) or self._client_route(path, headers)
        if file is not None:
            return self._index(file, headers) if file.path.name == INDEX_NAME else _answer(file, headers)
        return PlainTextResponse(NOT_BUILT, 503) if path == "/" else None

    def _index(self, file: PageFile, request_headers: Headers) -> Response:
        """Serves the index with absolute paths to its files, since a browser requests it at any depth."""
        try:
            text = file.path.read_bytes().replace(RELATIVE_REFERENCE, f'="{self._prefix}/'.encode())
        except FileNotFoundError:
            return PlainTextResponse(NOT_BUILT, 503)  # the page is being rebuilt
        etag = f'"{hashlib.sha256(text).hexdigest()[:32]}"'
        headers = {**HEADERS, "cache-control": file.cache, "etag": etag}
        if request_headers.get("if-none-match") == etag:
            return Response(status_code=304, headers=headers)
        return Response(text, headers=headers, media_type=file.media_type)

    def _client_route(self, path: str, headers: Headers) -> PageFile | None:
        """Returns the index for a path that the page's own router handles. Clients that do not accept HTML do not get
        it."""
        accepts_html = path == "/" or "text/html" in headers.get("accept", "")
        return self._files.get(INDEX) if accepts_html else None


def _answer(file: PageFile, request_headers: Headers) -> Response:
    smaller = file.compressed if "gzip" in request_headers.get("accept-encoding", "") else None
    path = smaller or file.path
    headers = {**HEADERS, "cache-control": file.cache, "vary": "accept-encoding"}
    if smaller is not None:
        headers["content-encoding"] = "gzip"
    try:
        answer = FileResponse(path, headers=headers, media_type=file.media_type, stat_result=path.stat())
    except FileNotFoundError:
        return PlainTextResponse(NOT_BUILT, 503)  # the page is being rebuilt
    if request_headers.get("if-none-match") == answer.headers["etag"]:
        return Response(status_code=304, headers={**headers, "etag": answer.headers["etag"]})
    return answer
