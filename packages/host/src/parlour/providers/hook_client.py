"""Sends webhooks to public addresses, and to those that the operator allows. Holds no connection when idle."""

from collections.abc import Iterable
from email.utils import parsedate_to_datetime
from time import time
from typing import TYPE_CHECKING

from parlour.core.webhooks.sending import Answer, Request, Unreachable

from .addresses import AddressRefused, Allowed, NameUnresolved, NotPublic, connector

if TYPE_CHECKING:
    from aiohttp import ClientResponse

ANSWER_BYTES = 1024 * 1024


class HookClient:
    def __init__(self, allowed: Iterable[str]) -> None:
        self._allowed = Allowed.of(allowed)

    async def send(self, request: Request) -> Answer:
        from aiohttp import ClientError, ClientSession, ClientTimeout, InvalidURL

        timeout = ClientTimeout(total=request.seconds)
        try:
            async with (
                ClientSession(connector=connector(self._allowed), timeout=timeout, auto_decompress=False) as session,
                session.request(
                    request.method,
                    request.url,
                    data=request.body,
                    headers={**request.headers, "accept-encoding": "identity"},
                    allow_redirects=False,
                ) as response,
            ):
                return Answer(response.status, await _beginning(response), _retry_after(response))
        except InvalidURL:
            raise Unreachable("its address can't be used; write it as https://host/path", permanent=True) from None
        except TimeoutError:
            raise Unreachable(f"it did not answer within {request.seconds:g} s") from None
        except (ClientError, OSError) as error:
            stopped = _at_the_door(error)
            words = str(stopped) if stopped is not None else f"it could not be reached ({type(error).__name__})"
            remedy = " (the setting tools.allowed_addresses does)" if isinstance(stopped, NotPublic) else ""
            raise Unreachable(words + remedy, permanent=isinstance(stopped, AddressRefused)) from None


async def _beginning(response: "ClientResponse") -> bytes:
    """What is longer is nothing that a webhook answers."""
    parts: list[bytes] = []
    size = 0
    async for part in response.content.iter_chunked(65_536):
        parts.append(part)
        size += len(part)
        if size > ANSWER_BYTES:
            break
    return b"".join(parts)[:ANSWER_BYTES]


def _retry_after(response: "ClientResponse") -> float | None:
    written = response.headers.get("retry-after", "")
    if written.isdecimal():
        return float(written)
    try:
        return max(0.0, parsedate_to_datetime(written).timestamp() - time()) if written else None
    except ValueError:
        return None


def _at_the_door(error: BaseException) -> AddressRefused | NameUnresolved | None:
    """What the address door said, where that was the reason."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, AddressRefused | NameUnresolved):
            return seen
        inner = getattr(seen, "os_error", None)
        seen = inner if isinstance(inner, BaseException) else seen.__cause__
    return None
