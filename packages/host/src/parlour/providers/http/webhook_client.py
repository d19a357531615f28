"""Sends webhooks to public addresses and to those that the operator allows. It keeps no idle connections."""

import os
from collections.abc import Iterable
from email.utils import parsedate_to_datetime
from time import time
from typing import TYPE_CHECKING

from parlour.core.webhooks.client import MAX_RESPONSE_BYTES, Unreachable, WebhookHttpRequest, WebhookHttpResponse
from parlour.network.address_guard import (
    AddressAllowlist,
    AddressRefused,
    PrivateAddressRefused,
    find_guard_error,
    guarded_connector,
)

if TYPE_CHECKING:
    from aiohttp import ClientResponse

ALLOWLIST_HINT = "the setting tools.allowed_addresses names those that may be reached all the same"


class AiohttpWebhookClient:
    """HTTP client for outbound webhooks."""

    def __init__(self, allowed: Iterable[str]) -> None:
        self._allowed = AddressAllowlist.parse(allowed)

    async def send(self, request: WebhookHttpRequest) -> WebhookHttpResponse:
        from aiohttp import ClientError, ClientSession, ClientTimeout, InvalidURL

        timeout = ClientTimeout(total=request.timeout_seconds)
        try:
            async with (
                ClientSession(
                    connector=guarded_connector(self._allowed), timeout=timeout, auto_decompress=False
                ) as session,
                session.request(
                    request.method,
                    request.url,
                    data=request.body,
                    headers={**request.headers, "accept-encoding": "identity"},
                    allow_redirects=False,
                ) as response,
            ):
                return WebhookHttpResponse(response.status, await _beginning(response), _retry_after(response))
        except InvalidURL:
            raise Unreachable("its address can't be used; write it as https://host/path", permanent=True) from None
        except TimeoutError:
            raise Unreachable(f"it did not answer within {request.timeout_seconds:g} s") from None
        except (ClientError, OSError) as error:
            stopped = find_guard_error(error)
            reason = _describe_error(error) if stopped is None else str(stopped)
            remedy = f"; {ALLOWLIST_HINT}" if isinstance(stopped, PrivateAddressRefused) else ""
            raise Unreachable(reason + remedy, permanent=isinstance(stopped, AddressRefused)) from None


def _describe_error(error: Exception) -> str:
    from aiohttp import ClientPayloadError, ClientResponseError, ClientSSLError, ServerDisconnectedError

    match error:
        case ClientSSLError():
            return "its certificate or encryption is not valid"
        case ServerDisconnectedError():
            return "it hung up without an answer"
        case ClientPayloadError():
            return "its answer broke off"
        case ClientResponseError():
            return "its answer is no valid HTTP"
        case OSError(errno=int(number)) if number > 0:
            return f"it could not be reached: {os.strerror(number)}"
    return f"it could not be reached ({type(error).__name__})"


async def _beginning(response: "ClientResponse") -> bytes:
    """Reads just enough of the body to know whether it is too long."""
    parts: list[bytes] = []
    size = 0
    async for part in response.content.iter_chunked(65_536):
        parts.append(part)
        size += len(part)
        if size > MAX_RESPONSE_BYTES:
            break
    return b"".join(parts)


def _retry_after(response: "ClientResponse") -> float | None:
    header = response.headers.get("retry-after", "")
    if header.isdecimal():
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time()) if header else None
    except (ValueError, OverflowError):  # not a date, or one with an impossible year
        return None
