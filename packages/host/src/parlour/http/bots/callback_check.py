"""Calls the address of a bot as its platform would, and says what the platform would see.

The call carries a sealed number. Only a Host with the same key can open it, so an answer with the number proves that
the address leads to this Host and not to another server.
"""

import asyncio
import ipaddress
import secrets
from collections.abc import Callable
from typing import Literal
from urllib.parse import urlsplit

from typing_extensions import TypedDict

from parlour.core.model.ids import BotId
from parlour.core.secrets import SecretBox, SecretUnreadable
from parlour.network.http_session import connection_error_reason

from ..platform_callbacks.endpoints import CHECK_FIELD

CHECK_PREFIX = "callback-check:"
CHECK_SECONDS = 10.0
MAX_ANSWER_BYTES = 4096
Outcome = Literal["reached", "no_address", "unreachable", "redirected", "other_server", "private_address"]


class CallbackCheckResponse(TypedDict):
    outcome: Outcome
    message: str
    """In words, with what to do about it."""
    status: int | None
    """HTTP status of the answer."""


class CallbackCheck:
    def __init__(self, public_url: str, secrets_box: SecretBox, outbound_ips: Callable[[], list[str]] = list) -> None:
        self._public_url = public_url.rstrip("/")
        self._secrets = secrets_box
        self.outbound_ips = outbound_ips

    def address(self, bot_id: BotId) -> str:
        """Returns the address that a platform calls; empty if the public address of the Host is unknown."""
        return f"{self._public_url}/hooks/{bot_id}" if self._public_url else ""

    def answer(self, sealed: str) -> str:
        """Returns the number of a check; empty if it is not one of this Host."""
        try:
            opened = self._secrets.open(sealed)
        except (SecretUnreadable, ValueError):
            return ""
        return opened.removeprefix(CHECK_PREFIX) if opened.startswith(CHECK_PREFIX) else ""

    async def check(self, bot_id: BotId) -> CallbackCheckResponse:
        """Calls the bot's address once."""
        address = self.address(bot_id)
        if not address:
            return _result(
                "no_address", "enter the public address of this Host, such as https://host, in http.public_url"
            )
        import aiohttp  # only a check needs it

        number = secrets.token_hex(16)
        query = {CHECK_FIELD: self._secrets.seal(f"{CHECK_PREFIX}{number}")}
        try:
            timeout = aiohttp.ClientTimeout(total=CHECK_SECONDS)
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.get(address, params=query, allow_redirects=False) as response,
            ):
                status, body = response.status, await response.content.read(MAX_ANSWER_BYTES)
                location = response.headers.get("Location", "")
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            return _result("unreachable", f"the address can't be reached: {connection_error_reason(error)}")
        if 300 <= status < 400:
            place = urlsplit(location)
            target = f"{place.scheme}://{place.netloc}" if place.netloc else "another path"
            message = f"the address redirects to {target}; platforms follow no redirects, so enter that address instead"
            return _result("redirected", message, status)
        if status != 200 or body.decode(errors="replace") != number:
            message = f"another server answers, with status {status}; let the reverse proxy pass /hooks/ to this Host"
            return _result("other_server", message, status)
        return await self._reached(status)

    async def _reached(self, status: int) -> CallbackCheckResponse:
        parts = urlsplit(self._public_url)
        private = await _private_address(parts.hostname or "")
        if private:
            message = f"this Host answers, but the name leads to {private} here, which platforms can't reach"
            return _result("private_address", message, status)
        if parts.scheme != "https":
            return _result(
                "reached", "this Host answers, but without TLS; most platforms call only https addresses", status
            )
        return _result("reached", "this Host answers at the address, with a certificate that is trusted", status)


def _result(outcome: Outcome, message: str, status: int | None = None) -> CallbackCheckResponse:
    return {"outcome": outcome, "message": message, "status": status}


async def _private_address(host: str) -> str:
    """Returns the address of a name if it is one that the internet can't reach."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None)
    except OSError:
        return ""
    addresses = [ipaddress.ip_address(each[4][0]) for each in found]
    return str(addresses[0]) if addresses and all(not each.is_global for each in addresses) else ""
