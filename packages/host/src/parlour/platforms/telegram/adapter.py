"""Runs a bot on Telegram: wires client, update source and API, logs in, and reconnects with back-off."""

import asyncio
import logging

from parlour.core.backoff import Backoff
from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.core.platforms.port import (
    AdapterFactory,
    AdapterStopped,
    HostLink,
    PlatformOffline,
    PlatformRefused,
    PlatformUncertain,
)
from parlour.platforms._kit.proxy_fields import configured_proxies

from . import entities
from .api import TelegramApi
from .client import Conflict, TelegramClient, Unauthorized
from .connection import TelegramWebhook, UpdatePoller
from .entities import BotAccount
from .sender import DraftSupport, TelegramSender
from .updates import UpdateProcessor

logger = logging.getLogger(__name__)

BASE_URL = "https://api.telegram.org"
MIN_STABLE_SECONDS = 30.0
"""Minimum seconds of a successful connection, after which the back-off delay is reset."""
OTHER_INSTANCE = "another program takes this bot's updates; stop it there, or make a token of its own for it"
WRONG_TOKEN = "token: Telegram does not know it; copy it anew from @BotFather"


class TelegramAdapter:
    """Adapter of one Telegram bot."""

    def __init__(self, link: HostLink, backoff: Backoff) -> None:
        token = str(link.config.get("token") or "").strip()
        if not token:
            raise AdapterStopped("token: the bot's token is needed; @BotFather tells it")
        self._link = link
        self._backoff = backoff
        self._client = TelegramClient(
            str(link.config.get("api_base_url") or BASE_URL), token, configured_proxies(link.config)
        )
        self._sender = TelegramSender(self._client)
        self._drafts = DraftSupport(self._client)
        self._account = BotAccount("")
        self._updates = UpdateProcessor(link, self._client, self._sender)
        webhook = link.config.get("mode") == "webhook"
        self._webhook = TelegramWebhook(link, self._client, self._updates, token) if webhook else None
        self._update_source = self._webhook or UpdatePoller(link, self._client, self._updates)

    async def serve(self) -> None:
        self._link.report_status("connecting")
        async with self._client.connection():
            try:
                while True:
                    started_at = asyncio.get_running_loop().time()
                    problem = await self._connected()
                    if asyncio.get_running_loop().time() - started_at > MIN_STABLE_SECONDS:
                        self._backoff.reset()
                    seconds = self._backoff.next_delay()
                    self._link.report_status("connecting", f"{problem}; trying again in {seconds:.0f} s")
                    await asyncio.sleep(seconds)
            finally:
                await self._updates.close()

    def api(self, account: str = "") -> TelegramApi:
        markdown = self._link.config.get("markdown_card") is not False
        return TelegramApi(
            self._client, self._sender, self._drafts, lambda: self._account, self._link.content, markdown
        )

    async def hook(self, call: HookCall) -> HookResponse:
        if self._webhook is None:
            return HookResponse(404, "this bot asks Telegram for its updates; choose the mode webhook to be called")
        if not self._account.id:
            return HookResponse(503, "the bot is not connected to Telegram yet")
        return await self._webhook.hook(call)

    async def _connected(self) -> str:
        """Serves the bot until something fails, and returns the reason."""
        try:
            self._account = entities.parse_bot_account(await self._client.call("getMe", {}))
            await self._drafts.probe()
            await self._updates.load(self._account)
            await self._update_source.begin()
            self._link.report_status("connected")
            await self._update_source.serve()
        except Unauthorized:
            raise AdapterStopped(WRONG_TOKEN) from None
        except Conflict as conflict:
            return OTHER_INSTANCE if "webhook" not in conflict.reason else conflict.reason
        except PlatformOffline as error:
            reason = error.reason.removeprefix("Telegram can't be reached: ")
            return f"Telegram can't be reached: {reason}; check the network, a proxy, or api_base_url"
        except PlatformRefused as error:
            return error.reason
        except PlatformUncertain as unknown:
            return str(unknown)
        except ValueError:
            return "what answers at api_base_url is not the Bot API"
        return "Telegram ended the connection"


def adapter_factory() -> AdapterFactory:
    return lambda link: TelegramAdapter(link, Backoff())
