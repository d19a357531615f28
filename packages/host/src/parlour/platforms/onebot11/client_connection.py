"""Connects to a OneBot implementation that listens, and reconnects with back-off."""

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from parlour.core.backoff import Backoff
from parlour.core.platforms.port import AdapterStopped, HostLink

from .accounts import OneBotAccounts
from .client import CLOSE_TIMEOUT_SECONDS, MAX_FRAME_BYTES, OneBotConnection
from .configuration import url_problem
from .server_connection import quiet_logger

logger = logging.getLogger(__name__)
ServeConnection = Callable[[OneBotConnection], Awaitable[None]]
OPEN_TIMEOUT_SECONDS = 20.0
WAITING_FOR_ACCOUNT = "the OneBot implementation is there and has yet to say whose account it is"
MIN_STABLE_SECONDS = 10.0
"""Minimum seconds of a successful connection. After a shorter one the back-off delay keeps growing."""


class ForwardConnector:
    """Keeps the connection to the configured address open (mode `forward`)."""

    def __init__(self, link: HostLink, accounts: OneBotAccounts, talk: ServeConnection, backoff: Backoff) -> None:
        self._link = link
        self._url = str(link.config.get("url") or "")
        self._token = str(link.config.get("access_token") or "")
        self._accounts = accounts
        self._talk = talk
        self._backoff = backoff

    async def serve(self) -> None:
        if problem := url_problem(self._url):  # it may have been saved before this check existed
            raise AdapterStopped(f"url: {problem}")
        self._link.report_status("connecting")
        while True:
            problem = await self._connected()
            seconds = self._backoff.next_delay()
            self._link.report_status("connecting", f"{problem}; trying again in {seconds:.0f} s")
            await asyncio.sleep(seconds)

    async def _connected(self) -> str:
        """Serves one connection until it ends, and returns the reason."""
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        begun = asyncio.get_running_loop().time()
        try:
            async with connect(
                self._url,
                additional_headers=headers,
                open_timeout=OPEN_TIMEOUT_SECONDS,
                max_size=MAX_FRAME_BYTES,
                compression=None,
                close_timeout=CLOSE_TIMEOUT_SECONDS,
                proxy=None,
                logger=quiet_logger,
            ) as socket:
                self._link.report_status(
                    "connecting", WAITING_FOR_ACCOUNT
                )  # replaces the error of the previous attempt
                connection = OneBotConnection(socket)
                try:
                    await self._talk(connection)
                finally:
                    self._accounts.remove(connection)
        except InvalidURI:
            return "the OneBot implementation redirects to what is no address of a WebSocket; check the url"
        except InvalidStatus as error:
            return _refusal(error.response.status_code)
        except (OSError, TimeoutError, InvalidHandshake, ConnectionClosed) as error:
            return f"the OneBot implementation can't be reached: {_reason(error)}"
        if connection.token_rejected:
            return _refusal(403)
        if connection.account and asyncio.get_running_loop().time() - begun > MIN_STABLE_SECONDS:
            self._backoff.reset()
        return "the heartbeat stopped" if connection.silent else "the OneBot implementation closed the connection"


def _refusal(status: int) -> str:
    if status in (401, 403):
        return "the OneBot implementation refused the access token; set the same one here and there"
    advice = "look at what it logs" if status >= 500 else "check the url's port and path"
    return f"the OneBot implementation answered with HTTP status {status}; {advice}"


def _reason(error: Exception) -> str:
    """Describes an error without the address, which may contain a token."""
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message})"
    if isinstance(error, ssl.SSLError):
        return "what listens there does not speak TLS; try ws:// instead of wss://"
    if isinstance(error, ConnectionError):
        return error.strerror or "it broke the connection off; check whether ws:// or wss:// is right"
    if isinstance(error, OSError):
        return error.strerror or "no address of that name takes connections"
    return "what listens there does not speak WebSocket"
