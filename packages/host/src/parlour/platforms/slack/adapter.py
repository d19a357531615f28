"""Runs a bot on Slack: wires client, connection and API, and finds out which account the token is of."""

import asyncio
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
from parlour.platforms._kit.login import log_in, required
from parlour.platforms._kit.payloads import text
from parlour.platforms._kit.proxy_fields import configured_proxies
from parlour.platforms._kit.websocket_client import PlatformWebSocketClient

from .api import SlackApi
from .client import BASE_URL, TOKEN_ERRORS, SlackClient, SlackRefused
from .entities import SERVICE, SlackAccount
from .event_processor import SlackEventProcessor
from .scopes import scope_problem
from .socket_mode import PING_SECONDS, POLICY, SlackSocketMode
from .users import SlackUsers
from .webhook import SlackWebhook

CHECK_INTERVAL_SECONDS = 300.0
WRONG_TOKEN = "bot_token: Slack does not accept it; copy the bot token xoxb-… from the page OAuth & Permissions"
USER_TOKEN = "bot_token: this is not the token of a bot; copy the one that begins with xoxb-"


class SlackAdapter:
    """Adapter of one Slack app in one workspace."""

    def __init__(self, link: HostLink, backoff: Backoff) -> None:
        config = link.config
        self._link = link
        self._backoff = backoff
        self._mode = "webhook" if config.get("mode") == "webhook" else "socket"
        token = required(link, "bot_token", "the bot's token xoxb-… is needed, from the page OAuth & Permissions")
        proxies = configured_proxies(config)
        self._client = SlackClient(str(config.get("api_base_url") or BASE_URL).rstrip("/"), token, proxies)
        self._users = SlackUsers(self._client)
        self._account = SlackAccount("")
        self._scope_problem = ""
        processor = SlackEventProcessor(link, self._client, self._users, lambda: self._account)
        if self._mode == "webhook":
            secret = required(link, "signing_secret", "the signing secret is needed, from the page Basic Information")
            self._webhook: SlackWebhook | None = SlackWebhook(link, secret, processor, lambda: self._scope_problem)
            self._session: SlackSocketMode | None = None
        else:
            app_token = required(link, "app_token", "the app-level token xapp-… is needed, from Basic Information")
            self._webhook = None
            self._session = SlackSocketMode(link, self._client, app_token, processor, lambda: self._scope_problem)
            self._socket = PlatformWebSocketClient(
                SERVICE, link, self._session, proxies, POLICY, backoff, ping_seconds=PING_SECONDS
            )
        self._api = SlackApi(self._client, self._users, lambda: self._account, link.content, self._mode)

    async def serve(self) -> None:
        self._link.report_status("connecting")
        async with self._client.connection():
            await log_in(self._link, self._backoff, self._verify_token)
            if self._session is None:
                await self._wait_for_calls()
            else:
                try:
                    await self._socket.serve()
                finally:
                    await self._session.close()

    def api(self, account: str = "") -> SlackApi:
        return self._api

    async def hook(self, call: HookCall) -> HookResponse:
        if self._webhook is None:
            return HookResponse(404, "this bot uses Socket Mode; choose the mode webhook to be called")
        if not self._account.user_id:
            return HookResponse(503, "the bot is not connected to Slack yet")
        return await self._webhook.hook(call)

    async def _verify_token(self) -> None:
        """Raises AdapterStopped if only another token can help."""
        try:
            answer, scopes = await self._client.identify()
        except SlackRefused as refused:
            if refused.code in TOKEN_ERRORS:
                raise AdapterStopped(WRONG_TOKEN) from None
            raise
        if not text(answer, "bot_id"):
            raise AdapterStopped(USER_TOKEN)
        self._scope_problem = scope_problem(scopes)
        self._account = SlackAccount(text(answer, "user_id"), text(answer, "bot_id"), text(answer, "team_id"))

    async def _wait_for_calls(self) -> None:
        """Reports the bot as connected, and checks its token at intervals."""
        while True:
            self._link.report_status("connected", self._scope_problem)
            await asyncio.sleep(CHECK_INTERVAL_SECONDS)
            with suppress(PlatformRefused, PlatformUncertain):
                await self._verify_token()


def adapter_factory() -> AdapterFactory:
    return lambda link: SlackAdapter(link, Backoff())
