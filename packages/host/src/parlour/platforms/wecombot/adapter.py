"""Runs an AI bot of WeCom: wires connection, open replies and API."""

from parlour.core.backoff import Backoff
from parlour.core.platforms.port import AdapterFactory, HostLink
from parlour.platforms._kit.close_codes import ClosePolicy
from parlour.platforms._kit.http_client import PlatformHttpClient
from parlour.platforms._kit.login import required
from parlour.platforms._kit.proxy_fields import configured_proxies
from parlour.platforms._kit.websocket_client import PlatformWebSocketClient

from .api import WecomBotApi
from .client import WecomBotClient
from .connection import WecomBotConnection
from .entities import SERVICE
from .replies import Replies

FILES_URL = "https://openws.work.weixin.qq.com"


class WecomBotAdapter:
    """Adapter of one AI bot."""

    def __init__(self, link: HostLink, backoff: Backoff) -> None:
        required(link, "bot_id", "the id of the bot is needed, from its page under API mode")
        required(link, "secret", "the secret of the bot is needed, from its page under API mode")
        proxies = configured_proxies(link.config)
        self._link = link
        self._replies = Replies()
        self._http = PlatformHttpClient(SERVICE, FILES_URL, proxies)
        client = WecomBotClient()
        asks = link.config.get("feedback_buttons") is not False
        self._api = WecomBotApi(client, self._replies, link.content, asks)
        self._session = WecomBotConnection(link, client, self._api, self._replies, self._http)
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


def adapter_factory() -> AdapterFactory:
    return lambda link: WecomBotAdapter(link, Backoff())
