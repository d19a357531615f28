"""HTTP client of a homeserver's client API. Its callers choose the requests and interpret the responses."""

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import aiohttp
from pydantic_core import from_json

from parlour.core.encoding import dumps
from parlour.core.platforms.port import PlatformOffline, PlatformRefused, PlatformUncertain

from .errors import OFFLINE_RETRY_SECONDS, raise_for
from .values import Payload

RESPONSE_TIMEOUT_SECONDS = 30.0
TRANSFER_TIMEOUT_SECONDS = 120.0
CONNECT_TIMEOUT_SECONDS = 10.0
MAX_RESPONSE_BYTES = 64 * 1024 * 1024
CHUNK_BYTES = 64 * 1024
MAX_ENDPOINT_PART_LENGTH = 24
Query = Mapping[str, str | int]
NO_QUERY: Query = {}
API = "/_matrix/client/v3"
MAX_RESPONSE_DEPTH = 100
"""Maximum nesting depth of a response; deeper values are dropped."""
_NESTING = re.compile(rb'"(?:[^"\\]|\\.)*+"|[{}\[\]]', re.DOTALL)


def api_path(*parts: str) -> str:
    """Builds a path below the API prefix. Each part is quoted, whatever characters it has."""
    return "/".join((API, *(quote(part, safe="") for part in parts)))


def require_field(answer: Payload, name: str) -> str:
    """Returns a string that the response must have. Raises PlatformUncertain if it is missing."""
    value = answer.get(name)
    if not isinstance(value, str) or not value:
        raise PlatformUncertain(f"the homeserver's answer has no {name}")
    return value


class MatrixClient:
    """HTTP client with the bot's access token."""

    def __init__(self, homeserver: str, token: str) -> None:
        self._homeserver = homeserver.rstrip("/")
        self._token = token
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def get(self, where: str, query: Query = NO_QUERY, seconds: float = RESPONSE_TIMEOUT_SECONDS) -> Payload:
        return await self._json("GET", where, None, query, seconds)

    async def put(self, where: str, body: Payload) -> Payload:
        return await self._json("PUT", where, body, {}, RESPONSE_TIMEOUT_SECONDS)

    async def post(self, where: str, body: Payload) -> Payload:
        return await self._json("POST", where, body, {}, RESPONSE_TIMEOUT_SECONDS)

    async def upload(self, data: bytes, mime_type: str, filename: str) -> Payload:
        query = {"filename": filename} if filename else {}
        headers = {"Content-Type": mime_type}
        answer = await self._request("POST", "/_matrix/media/v3/upload", data, query, headers, TRANSFER_TIMEOUT_SECONDS)
        return _object(answer)

    async def download(self, where: str, most: int) -> bytes:
        """Downloads a file. Raises PlatformRefused if it is larger than `most` bytes."""
        return await self._request("GET", where, None, {}, {}, TRANSFER_TIMEOUT_SECONDS, most)

    async def _json(self, method: str, where: str, body: Payload | None, query: Query, seconds: float) -> Payload:
        data = None if body is None else dumps(body).encode()
        return _object(await self._request(method, where, data, query, {"Content-Type": "application/json"}, seconds))

    async def _request(
        self,
        method: str,
        where: str,
        data: bytes | None,
        query: Query,
        headers: dict[str, str],
        seconds: float,
        most: int = MAX_RESPONSE_BYTES,
    ) -> bytes:
        """Sends a request and returns the response body.

        Raises PlatformRefused, PlatformOffline or PlatformUncertain.
        """
        what = _endpoint_name(where)
        timeout = aiohttp.ClientTimeout(total=seconds, connect=CONNECT_TIMEOUT_SECONDS)
        url, told = self._homeserver + where, {"Authorization": f"Bearer {self._token}", **headers}
        try:
            async with self._connection().request(
                method, _exact(url), params=query, data=data, headers=told, timeout=timeout
            ) as response:
                content = await _read(response, most)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.InvalidURL) as error:
            raise PlatformOffline(f"the homeserver can't be reached: {_reason(error)}", OFFLINE_RETRY_SECONDS) from None
        except TimeoutError:
            raise PlatformUncertain(f"the homeserver did not answer {what} within {seconds:g} seconds") from None
        except (aiohttp.ClientError, OSError) as error:
            raise PlatformUncertain(f"the connection was cut before {what} was answered: {_reason(error)}") from None
        raise_for(what, response.status, response.headers, _parse_error_body(content), repeatable=method != "POST")
        return content

    def _connection(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession()
        return self._session


def _endpoint_name(where: str) -> str:
    """Returns the endpoint's name for error messages, without the ids in its path."""
    parts = where.removeprefix(API).strip("/").split("/")
    return "/".join(part for part in parts if "%" not in part and len(part) < MAX_ENDPOINT_PART_LENGTH)


def _exact(url: str) -> Any:
    """Returns the URL without quoting it again: room ids and the like are quoted already."""
    from yarl import URL

    return URL(url, encoded=True)


async def _read(response: aiohttp.ClientResponse, most: int) -> bytes:
    pieces, size = [], 0
    async for piece in response.content.iter_chunked(CHUNK_BYTES):
        size += len(piece)
        if size > most:
            raise PlatformRefused(f"it is larger than {most // 2**20} MiB", permanent=True)
        pieces.append(piece)
    return b"".join(pieces)


def _parse_error_body(content: bytes) -> Payload:
    """Parses the body of an error response; empty if it is no JSON object, as a proxy before the homeserver may have
    written it.
    """
    try:
        return _object(content)
    except PlatformUncertain:
        return {}


def _object(content: bytes) -> Payload:
    """Parses a response. Raises PlatformUncertain if it is not a JSON object."""
    try:
        answer = from_json(content)
    except ValueError:  # half of a surrogate pair, deeper nesting than the parser accepts, or no JSON
        answer = _leniently(content)
    if not isinstance(answer, dict):
        raise PlatformUncertain("the homeserver answered with something else than an object")
    return answer


def _leniently(content: bytes) -> Any:
    try:
        return _replace_surrogates(json.loads(_drop_deep_values(content)))
    except (ValueError, RecursionError):
        raise PlatformUncertain("the homeserver answered with something that is no JSON") from None


def _drop_deep_values(content: bytes) -> bytes:
    """Replaces values that nest deeper than MAX_RESPONSE_DEPTH with null, so that no event can make a response
    unreadable.
    """
    kept: list[bytes] = []
    depth, start = 0, 0
    for found in _NESTING.finditer(content):
        mark = found[0]
        if mark in (b"{", b"["):
            depth += 1
            if depth == MAX_RESPONSE_DEPTH + 1:
                kept += [content[start : found.start()], b"null"]
        elif mark in (b"}", b"]"):
            if depth == MAX_RESPONSE_DEPTH + 1:
                start = found.end()
            depth -= 1
    if depth <= MAX_RESPONSE_DEPTH:
        kept.append(content[start:])
    return b"".join(kept)


def _replace_surrogates(value: Any) -> Any:
    """Replaces halves of surrogate pairs, which JSON can express but which can't be stored."""
    match value:
        case str():
            return value.encode(errors="replace").decode()
        case dict():
            return {_replace_surrogates(name): _replace_surrogates(each) for name, each in value.items()}
        case list():
            return [_replace_surrogates(each) for each in value]
    return value


def _reason(error: Exception) -> str:
    if isinstance(error, asyncio.TimeoutError):
        return "it did not answer in time"
    if isinstance(error, aiohttp.InvalidURL):
        return "homeserver is no address; it looks like https://matrix.example.org"
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    return getattr(cause, "strerror", None) or type(error).__name__
