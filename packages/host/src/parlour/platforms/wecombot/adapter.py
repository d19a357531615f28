"""Runs an AI bot of WeCom: wires connection or calls, open replies and API."""

import asyncio

from parlour.core.backoff import Backoff
from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.core.platforms.port import Adapter, AdapterFactory, HostLink
from parlour.platforms._kit.close_codes import ClosePolicy
from parlour.platforms._kit.http_client import PlatformHttpClient
from parlour.platforms._kit.login import required
from parlour.platforms._kit.proxy_fields import configured_proxies
from parlour.platforms._kit.websocket_client import PlatformWebSocketClient

from .api import WecomBotApi
from .callbacks import WecomBotCallbacks
from .client import WecomBotClient
from .connection import WecomBotConnection
from .entities import SERVICE
from .files import WecomBotFiles
from .replies import Replies
from .webhook import WecomBotWebhook

FILES_URL = "https://openws.work.weixin.qq.com"


class WecomBotAdapter:
    """Adapter of one AI bot, over the long connection."""

    def __init__(self, link: HostLink, backoff: Backoff) -> None:
        required(link, "bot_id", "the id of the bot is needed, from its page under API mode")
        required(link, "secret", "the secret of the bot is needed, from its page under API mode")
        proxies = configured_proxies(link.config)
        self._link = link
        self._replies = Replies()
        self._http = PlatformHttpClient(SERVICE, FILES_URL, proxies)
        client = WecomBotClient()
        self._api = WecomBotApi(client, self._replies, link.content, _asks_for_feedback(link))
        files = WecomBotFiles(self._http)
        self._session = WecomBotConnection(link, client, self._api, self._replies, files)
        self._socket = PlatformWebSocketClient(SERVICE, link, self._session, proxies, ClosePolicy(), backoff)

    async def serve(self) -> None:
        self._link.report_status("connecting")
        self._replies.load(await self._link.cursor())
        async with self._http.connection():
            try:
                await self._socket.serve()
            finally:
                await self._session.close()

    def api(self, account: str = "") -> WecomBotApi:
        return self._api


class CalledWecomBotAdapter:
    """Adapter of one AI bot that WeCom calls. There is nothing to log in to."""

    def __init__(self, link: HostLink) -> None:
        self._link = link
        self._replies = Replies(is_called=True)
        self._http = PlatformHttpClient(SERVICE, FILES_URL, configured_proxies(link.config))
        callbacks = WecomBotCallbacks(self._http)
        self._api = WecomBotApi(callbacks, self._replies, link.content, _asks_for_feedback(link), is_called=True)
        files = WecomBotFiles(self._http, str(link.config.get("encoding_aes_key") or "").strip())
        self._webhook = WecomBotWebhook(link, self._api, self._replies, callbacks, files)
        self._is_serving = False

    async def serve(self) -> None:
        self._link.report_status("connecting")
        self._replies.load(await self._link.cursor())
        async with self._http.connection():
            self._is_serving = True
            try:
                self._link.report_status("connected")
                await asyncio.Event().wait()
            finally:
                self._is_serving = False

    def api(self, account: str = "") -> WecomBotApi:
        return self._api

    async def hook(self, call: HookCall) -> HookResponse:
        if call.method == "GET":
            return self._webhook.verify(call)
        if not self._is_serving:
            return HookResponse(503, "the bot is not started yet")
        return await self._webhook.hook(call)


def _asks_for_feedback(link: HostLink) -> bool:
    return link.config.get("feedback_buttons") is not False


def adapter_factory() -> AdapterFactory:
    def create(link: HostLink) -> Adapter:
        is_called = link.config.get("mode") == "webhook"
        return CalledWecomBotAdapter(link) if is_called else WecomBotAdapter(link, Backoff())

    return create
