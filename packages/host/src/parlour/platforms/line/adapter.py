"""Runs a bot on LINE: checks the token, watches the webhook's settings, and takes the calls of LINE."""

import asyncio
from urllib.parse import urlsplit

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
from parlour.platforms._kit.login import log_in, required
from parlour.platforms._kit.payloads import text
from parlour.platforms._kit.proxy_fields import configured_proxies
from parlour.platforms._kit.public_files import PublicFiles

from .api import LineApi
from .client import BASE_URL, DATA_BASE_URL, LineClient, LineUnauthorized
from .encode import LineEncoder
from .profiles import LineProfiles
from .webhook import LineWebhook

CHECK_INTERVAL_SECONDS = 300.0
WRONG_TOKEN = (
    "channel_access_token: LINE does not accept it; issue a long-lived token on the page Messaging API of the channel"
)
NO_WEBHOOK = "the channel has no webhook address; enter the bot's address in the LINE Developers Console"
WEBHOOK_OFF = "the webhook of the channel is switched off; switch on Use webhook in the LINE Developers Console"


class LineAdapter:
    """Adapter of one official account."""

    def __init__(self, link: HostLink, backoff: Backoff) -> None:
        config = link.config
        self._link = link
        self._backoff = backoff
        secret = required(link, "channel_secret", "the channel secret is needed, from the page Basic settings")
        token = required(link, "channel_access_token", "a token is needed, from the page Messaging API")
        base = str(config.get("api_base_url") or BASE_URL).rstrip("/")
        data_base = str(config.get("data_base_url") or "").rstrip("/") or (DATA_BASE_URL if base == BASE_URL else base)
        self._client = LineClient(base, data_base, token, configured_proxies(config))
        self._files = PublicFiles(link, secret, str(config.get("public_url") or ""))
        profiles, quote_tokens = LineProfiles(self._client), BoundedMap[str, str]()
        self._webhook = LineWebhook(link, secret, self._client, profiles, quote_tokens)
        encoder = LineEncoder(self._files, link.content, quote_tokens.get)
        self._api = LineApi(self._client, profiles, encoder, quote_tokens)
        self._is_serving = False

    async def serve(self) -> None:
        self._link.report_status("connecting")
        async with self._client.connection():
            await log_in(self._link, self._backoff, self._check_token)
            self._is_serving = True
            try:
                await self._watch()
            finally:
                self._is_serving = False

    def api(self, account: str = "") -> LineApi:
        return self._api

    async def hook(self, call: HookCall) -> HookResponse:
        if call.method == "GET":
            return await self._files.serve(call) or HookResponse(200, "this address takes the calls of LINE")
        if not self._is_serving:
            return HookResponse(503, "the bot is not connected to LINE yet")
        return await self._webhook.hook(call)

    async def _check_token(self) -> None:
        try:
            await self._client.get("/v2/bot/info", "bot info")
        except LineUnauthorized:
            raise AdapterStopped(WRONG_TOKEN) from None

    async def _watch(self) -> None:
        """Reports the bot as connected, with what is wrong with its webhook, and checks it at intervals."""
        while True:
            try:
                self._link.report_status("connected", await self._webhook_problem())
            except LineUnauthorized:
                raise AdapterStopped(WRONG_TOKEN) from None
            await asyncio.sleep(CHECK_INTERVAL_SECONDS)

    async def _webhook_problem(self) -> str:
        """Returns what keeps LINE from calling the bot, in a sentence; empty if nothing does."""
        try:
            known = await self._client.get("/v2/bot/channel/webhook/endpoint", "webhook")
        except LineUnauthorized:
            raise
        except (PlatformRefused, PlatformUncertain):
            return NO_WEBHOOK
        path = urlsplit(text(known, "endpoint")).path
        if not path.endswith(f"/hooks/{self._link.bot_id}"):
            return f"the channel calls another address; its webhook must end with /hooks/{self._link.bot_id}"
        return "" if known.get("active") is True else WEBHOOK_OFF


def adapter_factory() -> AdapterFactory:
    return lambda link: LineAdapter(link, Backoff())
