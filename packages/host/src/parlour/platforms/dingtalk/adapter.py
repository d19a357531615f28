"""Runs a DingTalk robot in stream mode: wires client, connection and API."""

from parlour.core.backoff import Backoff
from parlour.core.platforms.port import AdapterFactory, HostLink
from parlour.platforms._kit.close_codes import ClosePolicy
from parlour.platforms._kit.login import required
from parlour.platforms._kit.proxy_fields import configured_proxies
from parlour.platforms._kit.user_cache import UserCache
from parlour.platforms._kit.websocket_client import PlatformWebSocketClient

from .api import DingTalkApi
from .client import DingTalkClient
from .connection import DingTalkConnection
from .entities import API_URL, OLD_API_URL, SERVICE

SOCKET_PING_SECONDS = 20.0
USER_CACHE_SECONDS, USER_TIMEOUT_SECONDS = 3600.0, 1.5


class DingTalkAdapter:
    """Adapter of one robot."""

    def __init__(self, link: HostLink, backoff: Backoff) -> None:
        config = link.config
        self._link = link
        client_id = required(link, "client_id", "the Client ID is needed, from the page Credentials of the app")
        secret = required(link, "client_secret", "the Client Secret is needed, from the page Credentials of the app")
        robot_code = str(config.get("robot_code") or "").strip() or client_id
        template_id = str(config.get("card_template_id") or "").strip()
        base_url = str(config.get("api_base_url") or API_URL).rstrip("/")
        old_url = str(config.get("oapi_base_url") or OLD_API_URL).rstrip("/")
        proxies = configured_proxies(config)
        self._client = DingTalkClient(base_url, old_url, client_id, secret, proxies)
        users = UserCache(self._client.user, USER_CACHE_SECONDS, USER_TIMEOUT_SECONDS)
        is_markdown = config.get("markdown_card") is not False
        self._api = DingTalkApi(self._client, users, link.content, robot_code, template_id, is_markdown)
        self._session = DingTalkConnection(link, self._client, robot_code)
        self._socket = PlatformWebSocketClient(
            SERVICE, link, self._session, proxies, ClosePolicy(), backoff, ping_seconds=SOCKET_PING_SECONDS
        )

    async def serve(self) -> None:
        self._link.report_status("connecting")
        async with self._client.connection():
            try:
                await self._socket.serve()
            finally:
                await self._session.close()

    def api(self, account: str = "") -> DingTalkApi:
        return self._api


def adapter_factory() -> AdapterFactory:
    return lambda link: DingTalkAdapter(link, Backoff())
