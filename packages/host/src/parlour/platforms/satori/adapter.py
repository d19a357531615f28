"""Runs a bot on a Satori server: wires socket, client and API, and stores what the server reports."""

import asyncio
import logging
from typing import Any

from parlour.core.backoff import Backoff
from parlour.core.journal import StorageFailed
from parlour.core.platforms.port import AdapterFactory, HostLink, PlatformRefused, PlatformUncertain
from parlour.platforms._kit.intake import EventQueue
from parlour.platforms._kit.payloads import UNREADABLE, object_in, text
from parlour.platforms._kit.proxy_fields import configured_proxies
from parlour.platforms._kit.websocket_client import PlatformWebSocketClient

from . import entities
from .api import SatoriApi
from .channels import SatoriChannels
from .client import DEFAULT_ENDPOINT, SatoriClient, base_address
from .content import sources
from .decode import SatoriDecodeContext, decode
from .entities import SERVICE, SatoriLogin
from .gateway import POLICY, SatoriEvent, SatoriGateway

logger = logging.getLogger(__name__)

FILES_TIMEOUT_SECONDS = 30.0
MAX_FILES = 20
"""Number of files of one message that are fetched through the server."""


class SatoriAdapter:
    """Adapter of one Satori server, with one or all of its logins."""

    def __init__(self, link: HostLink, backoff: Backoff) -> None:
        base = base_address(str(link.config.get("endpoint") or DEFAULT_ENDPOINT))
        proxies = configured_proxies(link.config)
        self._link = link
        self._client = SatoriClient(base, str(link.config.get("token") or ""), proxies)
        self._channels = SatoriChannels(self._client)
        self._gateway = SatoriGateway(link, self._client, base, self)
        self._socket = PlatformWebSocketClient(SERVICE, link, self._gateway, proxies, POLICY, backoff)
        self._queue: EventQueue[SatoriEvent] = EventQueue(self._handle)

    async def serve(self) -> None:
        self._link.report_status("connecting")
        await self._gateway.restore()
        async with self._client.connection():
            try:
                await self._socket.serve()
            finally:
                await self._queue.close()

    def api(self, account: str = "") -> SatoriApi:
        def login() -> SatoriLogin | None:
            logins = self._gateway.logins
            return logins.get(account) if account else next(iter(logins.values()), None)

        return SatoriApi(self._client, self._channels, login, self._link.content)

    async def received_event(self, event: SatoriEvent) -> None:
        body = event.body if isinstance(event.body, dict) else {}
        chat = text(object_in(body, "channel"), "id") or text(object_in(body, "guild"), "id")
        await self._queue.submit((_account(body), chat), event, size=len(str(body)))

    async def _handle(self, event: SatoriEvent) -> None:
        try:
            await self._store(event)
        except StorageFailed:
            raise  # the queue tries again
        except Exception:
            self._gateway.handled(event)  # it must not hold up the position of the events behind it
            raise
        self._gateway.handled(event)

    async def _store(self, event: SatoriEvent) -> None:
        body = event.body if isinstance(event.body, dict) else {}
        try:
            login = entities.login_of(body)
        except UNREADABLE:
            login = None
        if login is not None:
            if not self._gateway.accepts(login):
                return
            self._channels.note(login, body)
        files = await self._files(body)
        incoming = decode(event.body, SatoriDecodeContext(self._link.bot_id, files))
        if incoming:
            await self._link.receive(*incoming, cursor=self._gateway.cursor(event))

    async def _files(self, body: dict[str, Any]) -> dict[str, tuple[bytes, str]]:
        """Fetches the files of a message that only the server can fetch. A failure leaves them out."""
        content = text(object_in(body, "message"), "content")
        wanted = [each for each in sources(content) if self._client.is_of_server(each)] if "<" in content else []
        files: dict[str, tuple[bytes, str]] = {}
        try:
            async with asyncio.timeout(FILES_TIMEOUT_SECONDS):
                for source in wanted[:MAX_FILES]:
                    await self._fetch(source, files)
        except TimeoutError:
            logger.warning("files of a message could not be fetched in time")
        return files

    async def _fetch(self, source: str, files: dict[str, tuple[bytes, str]]) -> None:
        try:
            files[source] = await self._client.fetch(source)
        except (PlatformRefused, PlatformUncertain) as error:
            logger.warning("a file of a message could not be fetched: %s", error)


def _account(body: dict[str, Any]) -> str:
    try:
        return entities.login_of(body).account
    except UNREADABLE:
        return ""


def adapter_factory() -> AdapterFactory:
    return lambda link: SatoriAdapter(link, Backoff())
