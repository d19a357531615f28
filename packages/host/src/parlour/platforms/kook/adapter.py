"""Runs a bot on KOOK: wires gateway, client and API, and stores what the gateway reports."""

import asyncio
from contextlib import suppress

from parlour.core.backoff import Backoff
from parlour.core.journal import StorageFailed
from parlour.core.platforms.port import (
    AdapterFactory,
    AdapterStopped,
    HostLink,
    PlatformRefused,
    PlatformUncertain,
)
from parlour.platforms._kit.intake import EventQueue
from parlour.platforms._kit.payloads import identifier, object_in, text
from parlour.platforms._kit.proxy_fields import configured_proxies
from parlour.platforms._kit.unreachable import with_advice
from parlour.platforms._kit.websocket_client import PlatformWebSocketClient

from .api import KookApi
from .client import BASE_URL, TOKEN_CODES, KookClient, KookRefused
from .decode import GUILD_KEY, KookDecodeContext, decode
from .entities import SERVICE, KookAccount
from .gateway import POLICY, WRONG_TOKEN, KookEvent, KookGateway
from .guilds import KookGuilds

OFFLINE_TIMEOUT_SECONDS = 2.0


class KookAdapter:
    """Adapter of one KOOK bot."""

    def __init__(self, link: HostLink, backoff: Backoff) -> None:
        token = str(link.config.get("token") or "").strip().removeprefix("Bot ")
        if not token:
            raise AdapterStopped("token: the bot's token is needed, from developer.kookapp.cn, page Bot")
        base_url = str(link.config.get("api_base_url") or BASE_URL).rstrip("/")
        proxies = configured_proxies(link.config)
        self._link = link
        self._backoff = backoff
        self._client = KookClient(base_url, token, proxies)
        self._guilds = KookGuilds(self._client)
        self._gateway = KookGateway(link, self._client, base_url, self)
        self._socket = PlatformWebSocketClient(SERVICE, link, self._gateway, proxies, POLICY, backoff)
        self._queue: EventQueue[KookEvent] = EventQueue(self._handle)
        self._api = KookApi(self._client, self._guilds, link.content)

    async def serve(self) -> None:
        self._link.report_status("connecting")
        await self._gateway.restore()
        async with self._client.connection():
            try:
                await self._log_in()
                await self._socket.serve()
            finally:
                await self._queue.close()
                with suppress(PlatformRefused, PlatformUncertain, TimeoutError):
                    async with asyncio.timeout(OFFLINE_TIMEOUT_SECONDS):
                        await self._client.post("user/offline")

    def api(self, account: str = "") -> KookApi:
        return self._api

    async def received_event(self, event: KookEvent) -> None:
        data = event.data if isinstance(event.data, dict) else {}
        self._guilds.note(data)
        await self._queue.submit(text(data, "target_id"), event, size=len(str(data)))

    async def _log_in(self) -> None:
        """Finds out the bot's account, and tries again until KOOK answers."""
        while True:
            try:
                self._api.account = KookAccount(identifier((await self._client.get("user/me")).get("id")))
                return
            except KookRefused as refused:
                if refused.code in TOKEN_CODES:
                    raise AdapterStopped(WRONG_TOKEN) from None
                problem = refused.reason
            except (PlatformRefused, PlatformUncertain) as error:
                problem = with_advice(error)
            except ValueError:
                problem = "what answers at api_base_url is not the KOOK API"
            seconds = self._backoff.next_delay()
            self._link.report_status("connecting", f"{problem}; trying again in {seconds:.0f} s")
            await asyncio.sleep(seconds)

    async def _handle(self, event: KookEvent) -> None:
        try:
            await self._store(event)
        except StorageFailed:
            raise  # the queue tries again
        except Exception:
            self._gateway.handled(event)  # it must not hold up the position of the events behind it
            raise
        self._gateway.handled(event)

    async def _store(self, event: KookEvent) -> None:
        data = event.data
        if isinstance(data, dict):
            extra = object_in(data, "extra")
            guild_id = text(extra, "guild_id") or text(object_in(extra, "body"), "guild_id")
            data = {**data, GUILD_KEY: await self._guilds.find(guild_id)} if guild_id else data
        incoming = decode(data, KookDecodeContext(self._link.bot_id, self._api.account))
        if incoming:
            await self._link.receive(*incoming, cursor=self._gateway.cursor(event))


def adapter_factory() -> AdapterFactory:
    return lambda link: KookAdapter(link, Backoff())
