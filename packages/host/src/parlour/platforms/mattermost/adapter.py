"""Runs a bot on Mattermost: wires gateway, client, buttons and API, and stores what the gateway reports."""

from parlour.core.backoff import Backoff
from parlour.core.journal import StorageFailed
from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.core.platforms.port import AdapterFactory, HostLink
from parlour.platforms._kit.intake import EventQueue
from parlour.platforms._kit.login import required
from parlour.platforms._kit.proxy_fields import configured_proxies
from parlour.platforms._kit.websocket_client import PlatformWebSocketClient

from .api import MattermostApi
from .buttons import MattermostButtons
from .client import API_PATH, MattermostClient
from .decode import channel_of
from .directory import MattermostDirectory
from .entities import SERVICE
from .event_processor import MattermostEventProcessor
from .gateway import POLICY, MattermostEvent, MattermostGateway


class MattermostAdapter:
    """Adapter of one bot account."""

    def __init__(self, link: HostLink, backoff: Backoff) -> None:
        url = required(link, "url", "the address of the server is needed, as https://chat.example.org")
        token = required(link, "token", "the token of the bot account is needed")
        server_url = url.rstrip("/").removesuffix(API_PATH)
        proxies = configured_proxies(link.config)
        self._client = MattermostClient(server_url, token, proxies)
        directory = MattermostDirectory(self._client)
        self._gateway = MattermostGateway(link, self._client, server_url, token, self)
        self._socket = PlatformWebSocketClient(SERVICE, link, self._gateway, proxies, POLICY, backoff)
        self._processor = MattermostEventProcessor(
            link, self._client, directory, lambda: self._gateway.account, self._gateway.cursor
        )
        self._queue: EventQueue[MattermostEvent] = EventQueue(self._handle)
        self._buttons = MattermostButtons(link, token, str(link.config.get("public_url") or ""), directory)
        self._api = MattermostApi(
            self._client, directory, self._buttons.callback, lambda: self._gateway.account, link.content, server_url
        )

    async def serve(self) -> None:
        await self._gateway.restore()
        async with self._client.connection():
            try:
                await self._socket.serve()
            finally:
                await self._queue.close()

    def api(self, account: str = "") -> MattermostApi:
        return self._api

    async def hook(self, call: HookCall) -> HookResponse:
        if not self._gateway.account.id:
            return HookResponse(503, "the bot is not connected to Mattermost yet")
        return await self._buttons.hook(call, self._gateway.account)

    async def received_event(self, event: MattermostEvent) -> None:
        data = event.data if isinstance(event.data, dict) else {}
        await self._queue.submit(channel_of(data), event, size=len(str(data)))

    async def _handle(self, event: MattermostEvent) -> None:
        try:
            await self._processor.store(event)
        except StorageFailed:
            raise  # the queue tries again
        except Exception:
            self._gateway.handled(event)  # it must not hold up the position of the posts behind it
            raise
        self._gateway.handled(event)


def adapter_factory() -> AdapterFactory:
    return lambda link: MattermostAdapter(link, Backoff())
