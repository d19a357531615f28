"""HTTP client of the Bot API: method calls, responses and files. Its callers interpret the results."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import (
    ClientConnectionError,
    ClientConnectorError,
    ClientError,
    ClientSession,
    ClientTimeout,
    FormData,
    TCPConnector,
)

from parlour.core.encoding import dumps
from parlour.core.platforms.port import PlatformOffline, PlatformRefused, PlatformUncertain
from parlour.platforms._kit.json_frames import FrameUnreadable, read_frame
from parlour_sdk.values import dataclass

from .errors import raise_for
from .values import Payload

RESPONSE_TIMEOUT_SECONDS = 30.0
TRANSFER_TIMEOUT_SECONDS = 55.0
"""Seconds for a call with files; less than delivery waits for a send."""
OFFLINE_RETRY_SECONDS = 1.0
MAX_DOWNLOAD_BYTES = 20 * 1024 * 1024
MAX_UPLOAD_BYTES = 50 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that is sent with a call; other parameters refer to it as attach://name."""

    name: str
    data: bytes
    filename: str
    mime_type: str


class TelegramClient:
    """HTTP client with the bot's token."""

    def __init__(self, base_url: str, token: str) -> None:
        self._base = base_url.rstrip("/")
        self._token = token
        self._session: ClientSession | None = None

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[None]:
        async with ClientSession(connector=TCPConnector(limit=50), trust_env=True) as session:
            self._session = session
            try:
                yield
            finally:
                self._session = None

    async def call(
        self, method: str, params: Payload, uploads: Sequence[Upload] = (), seconds: float = RESPONSE_TIMEOUT_SECONDS
    ) -> Any:
        """Calls a method and returns its result. Raises PlatformRefused, PlatformOffline or PlatformUncertain."""
        session = self._open_session()
        told = {name: value for name, value in params.items() if value is not None}
        body: dict[str, Any] = {"data": _form(told, uploads)} if uploads else {"json": told}
        timeout = ClientTimeout(total=TRANSFER_TIMEOUT_SECONDS if uploads else seconds)
        try:
            async with session.post(f"{self._base}/bot{self._token}/{method}", timeout=timeout, **body) as response:
                answer = await _read(response)
        except ClientConnectorError:
            raise PlatformOffline("Telegram can't be reached", retry_after=OFFLINE_RETRY_SECONDS) from None
        except TimeoutError:
            raise PlatformUncertain(f"Telegram did not answer {method} in time") from None
        except (ClientError, ConnectionError):  # without its message, which may contain the address and so the token
            raise PlatformUncertain(f"the connection was cut before Telegram answered {method}") from None
        return raise_for(method, response.status, answer)

    async def download(self, path: str) -> bytes:
        """Downloads a file by the path that getFile returned."""
        session = self._open_session()
        try:
            async with session.get(
                f"{self._base}/file/bot{self._token}/{path}", timeout=ClientTimeout(total=TRANSFER_TIMEOUT_SECONDS)
            ) as response:
                if response.status != 200:
                    raise PlatformRefused(f"Telegram refused the file (HTTP {response.status})", permanent=True)
                return await _within(response.content, MAX_DOWNLOAD_BYTES)
        except (ClientConnectionError, ClientError, TimeoutError, ConnectionError):
            raise PlatformUncertain("the file did not arrive from Telegram") from None

    def _open_session(self) -> ClientSession:
        if self._session is None:
            raise PlatformOffline("the bot is not connected to Telegram", retry_after=OFFLINE_RETRY_SECONDS)
        return self._session


async def _read(response: Any) -> Any:
    try:
        return read_frame(await response.read())
    except FrameUnreadable:
        return None


async def _within(content: Any, most: int) -> bytes:
    data = bytearray()
    async for chunk in content.iter_chunked(64 * 1024):
        data += chunk
        if len(data) > most:
            raise PlatformRefused("the file is larger than the 20 MB that Telegram hands to bots", permanent=True)
        await asyncio.sleep(0)
    return bytes(data)


def _form(params: Payload, uploads: Sequence[Upload]) -> FormData:
    form = FormData()
    for name, value in params.items():
        form.add_field(name, value if isinstance(value, str) else dumps(value))
    for upload in uploads:
        form.add_field(upload.name, upload.data, filename=upload.filename, content_type=upload.mime_type)
    return form
