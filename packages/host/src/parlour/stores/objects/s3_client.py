"""Sends the requests to S3-compatible storage that an object store needs: signed, with limited retries."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import httpx

from parlour.core.journal import StorageFailed

from .signature import EMPTY_DIGEST, S3Account, path, query, signed_headers

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 4
FIRST_PAUSE_SECONDS = 0.2
TIMEOUT = httpx.Timeout(60, connect=10)
Body = Callable[[], AsyncIterator[bytes]]


class S3Client:
    def __init__(self, account: S3Account, http: httpx.AsyncClient) -> None:
        self._account = account
        self._http = http

    @asynccontextmanager
    async def request(
        self,
        method: str,
        name: str = "",
        parameters: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: Body | None = None,
        digest: str = EMPTY_DIGEST,
        accepted_statuses: tuple[int, ...] = (200,),
    ) -> AsyncIterator[httpx.Response]:
        """Yields the response with its body unread. Raises StorageFailed for any status that is not accepted."""
        pause = FIRST_PAUSE_SECONDS
        for attempt in range(1, MAX_ATTEMPTS + 1):
            request = self._request(method, name, parameters or {}, headers or {}, body, digest)
            try:
                answer = await self._http.send(request, stream=True)
            except httpx.TransportError as error:
                if attempt == MAX_ATTEMPTS:
                    raise _failure(f"it can't be reached ({type(error).__name__})") from error
            else:
                if answer.status_code in accepted_statuses:
                    break
                text = (await answer.aread())[:500].decode(errors="replace")
                await answer.aclose()
                if answer.status_code not in (429, 500, 502, 503, 504) or attempt == MAX_ATTEMPTS:
                    logger.error("object storage answered %s %s with %s: %s", method, name, answer.status_code, text)
                    raise _refusal(answer.status_code)
            await asyncio.sleep(pause)
            pause *= 2
        try:
            yield answer
        except httpx.TransportError as error:
            raise _failure(f"the connection broke ({type(error).__name__})") from error
        finally:
            await answer.aclose()

    def _request(
        self,
        method: str,
        name: str,
        parameters: Mapping[str, str],
        headers: Mapping[str, str],
        body: Body | None,
        digest: str,
    ) -> httpx.Request:
        endpoint = httpx.URL(self._account.endpoint)
        target = path(*(part for part in (self._account.bucket, name) if part))
        query_string = query(parameters)
        host = endpoint.netloc.decode()
        signed = signed_headers(self._account, method, host, target, query_string, headers, digest, datetime.now(UTC))
        url = endpoint.copy_with(raw_path=f"{target}{'?' + query_string if query_string else ''}".encode())
        return self._http.build_request(method, url, headers=signed, content=body() if body else None, timeout=TIMEOUT)


def _refusal(status: int) -> StorageFailed:
    match status:
        case 401 | 403:
            return _failure("it refuses the credentials; check artifacts.s3.access_key, secret_key and region")
        case 404:
            return _failure("it has no such bucket; check artifacts.s3.bucket")
        case 507:
            return StorageFailed("storage_full", "The object storage has no room to keep this file.")
        case _:
            return _failure(f"it answered with status {status}")


def _failure(reason: str) -> StorageFailed:
    return StorageFailed("storage_failed", f"The object storage could not do it: {reason}.")
