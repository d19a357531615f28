"""Runs a bot on Feishu or Lark: wires client, connection, tenants and API, and finds out whether the app is known."""

import asyncio
import json
from contextlib import suppress

from parlour.core.backoff import Backoff
from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.core.platforms.port import (
    AdapterFactory,
    AdapterStopped,
    HostLink,
    PlatformRefused,
    PlatformUncertain,
)
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.encrypted_callbacks import decrypt_with_secret
from parlour.platforms._kit.login import log_in, required
from parlour.platforms._kit.payloads import text
from parlour.platforms._kit.proxy_fields import configured_proxies
from parlour.platforms._kit.webhooks import WebhookRejected
from parlour.platforms._kit.websocket_client import PlatformWebSocketClient

from .api import LarkApi
from .client import APP_CODES, LarkClient, LarkRefused
from .entities import FEISHU_URL, LARK_URL, SERVICE
from .event_processor import APP_TICKET, LarkEventProcessor, LarkTenant
from .long_connection import POLICY, SOCKET_PING_SECONDS, WRONG_SECRET, LarkLongConnection
from .webhook import LarkWebhook

CHECK_INTERVAL_SECONDS = 300.0
MAX_TENANTS = 1000
DOMAINS = {"feishu": FEISHU_URL, "lark": LARK_URL}


class LarkAdapter:
    """Adapter of one app of Feishu or Lark."""

    def __init__(self, link: HostLink, backoff: Backoff) -> None:
        config = link.config
        self._link = link
        self._backoff = backoff
        self._mode = "webhook" if config.get("mode") == "webhook" else "long_connection"
        self._is_store_app = config.get("app_type") == "store"
        app_id = required(link, "app_id", "the app's id cli_… is needed, from the page Credentials & Basic Info")
        secret = required(link, "app_secret", "the app's secret is needed, from the page Credentials & Basic Info")
        domain = DOMAINS.get(str(config.get("domain") or ""), FEISHU_URL)
        base_url = str(config.get("api_base_url") or domain).rstrip("/")
        proxies = configured_proxies(config)
        self._secret = secret
        self._is_ready = False
        self._client = LarkClient(base_url, app_id, secret, proxies, self._is_store_app)
        self._tenants: BoundedMap[str, LarkTenant] = BoundedMap(MAX_TENANTS)
        self._apis: BoundedMap[str, LarkApi] = BoundedMap(MAX_TENANTS)
        welcome = str(config.get("bot_added_welcome") or "").strip()
        processor = LarkEventProcessor(link, self._tenant, self._is_store_app, secret, self._set_ticket, welcome)
        self._webhook: LarkWebhook | None = None
        self._session: LarkLongConnection | None = None
        if self._mode == "webhook":
            key, token = str(config.get("encrypt_key") or ""), str(config.get("verification_token") or "")
            if not (key or token):
                raise AdapterStopped("encrypt_key: it or the verification token is needed, from Event Subscriptions")
            self._webhook = LarkWebhook(link, key, token, processor)
        else:
            self._session = LarkLongConnection(link, self._client, processor)
            self._socket = PlatformWebSocketClient(
                SERVICE, link, self._session, proxies, POLICY, backoff, ping_seconds=SOCKET_PING_SECONDS
            )

    async def serve(self) -> None:
        self._link.report_status("connecting")
        async with self._client.connection():
            try:
                await self._restore_ticket()
                await log_in(self._link, self._backoff, self._check_credentials)
                self._is_ready = True
                if self._session is None:
                    await self._wait_for_calls()
                else:
                    await self._socket.serve()
            finally:
                self._is_ready = False
                if self._session is not None:
                    await self._session.close()
                await self._client.close()

    def api(self, account: str = "") -> LarkApi:
        """Returns the API for a tenant. An app of one's own has only one, which has no name."""
        found = self._apis.get(account)
        if found is None:
            asks = self._link.config.get("feedback_buttons") is True
            found = LarkApi(self._client, self._tenant(account), self._link.content, self._mode, asks)
            self._apis.set(account, found)
        return found

    async def hook(self, call: HookCall) -> HookResponse:
        if self._webhook is None:
            return HookResponse(404, "this bot uses a long connection; choose the mode webhook to be called")
        if not self._is_ready:
            return HookResponse(503, "the bot is not connected to Lark yet")
        return await self._webhook.hook(call)

    def _tenant(self, key: str) -> LarkTenant:
        found = self._tenants.get(key)
        if found is None:
            found = LarkTenant(self._client.tenant(key))
            self._tenants.set(key, found)
        return found

    def _set_ticket(self, ticket: str) -> None:
        if ticket != self._client.app_ticket:
            self._client.app_ticket = ticket
            self._client.drop_app_token()

    async def _restore_ticket(self) -> None:
        """Continues with the ticket that was reported before the last stop."""
        if not self._is_store_app:
            return
        with suppress(ValueError, WebhookRejected):
            stored = json.loads(await self._link.cursor() or "{}")
            if isinstance(stored, dict) and text(stored, APP_TICKET):
                self._client.app_ticket = decrypt_with_secret(self._secret, text(stored, APP_TICKET)).decode()

    async def _check_credentials(self) -> None:
        """Raises AdapterStopped if only another secret can help. The first ticket of a store app comes as a call."""
        try:
            if not self._is_store_app:
                await self._tenant("").directory.account()
            elif not self._client.app_ticket:
                await self._client.request_ticket()
        except LarkRefused as refused:
            if refused.code in APP_CODES:
                raise AdapterStopped(WRONG_SECRET) from None
            raise

    async def _wait_for_calls(self) -> None:
        """Reports the bot as connected, and checks its credentials at intervals."""
        while True:
            self._link.report_status("connected")
            await asyncio.sleep(CHECK_INTERVAL_SECONDS)
            with suppress(PlatformRefused, PlatformUncertain):
                await self._check_credentials()


def adapter_factory() -> AdapterFactory:
    return lambda link: LarkAdapter(link, Backoff())
