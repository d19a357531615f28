"""Runs a bot on Telegram: wires client, update source and API, logs in, and reconnects with back-off."""

import asyncio
import logging

from parlour.core.platforms.hooks import HookAnswer, HookCall
from parlour.core.platforms.port import (
    Adapter,
    AdapterStopped,
    Link,
    PlatformAway,
    PlatformRefused,
    PlatformUncertain,
)
from parlour.platforms._kit.backoff import Backoff

from . import users
from .api import TelegramApi
from .client import Client
from .draft_stream import Drafts
from .errors import Conflict, Unauthorized
from .polling import Polling
from .send_calls import Sender
from .updates import Inflow
from .users import Me
from .webhook import Webhook

logger = logging.getLogger(__name__)

BASE_URL = "https://api.telegram.org"
HELD_SECONDS = 30.0
"""Minimum seconds of a successful connection, after which the back-off delay is reset."""
OTHER_INSTANCE = "another program takes this bot's updates; stop it there, or make a token of its own for it"
WRONG_TOKEN = "token: Telegram does not know it; copy it anew from @BotFather"


class Telegram:
    """Adapter of one Telegram bot."""

    def __init__(self, link: Link) -> None:
        token = str(link.config.get("token") or "").strip()
        if not token:
            raise AdapterStopped("token: the bot's token is needed; @BotFather tells it")
        self._link = link
        self._client = Client(str(link.config.get("api_base_url") or BASE_URL), token)
        self._sender = Sender(self._client)
        self._drafts = Drafts(self._client)
        self._me = Me("")
        self._inflow = Inflow(link, self._client, self._sender)
        webhook = link.config.get("mode") == "webhook"
        self._webhook = Webhook(link, self._client, self._inflow, token) if webhook else None
        self._way = self._webhook or Polling(link, self._client, self._inflow)

    async def serve(self) -> None:
        backoff = Backoff()
        self._link.state("connecting")
        async with self._client.opened():
            try:
                while True:
                    began = asyncio.get_running_loop().time()
                    problem = await self._connected()
                    if asyncio.get_running_loop().time() - began > HELD_SECONDS:
                        backoff.forget()
                    seconds = backoff.another()
                    self._link.state("connecting", f"{problem}; trying again in {seconds:.0f} s")
                    await asyncio.sleep(seconds)
            finally:
                await self._inflow.close()

    def api(self, account: str = "") -> TelegramApi:
        markdown = self._link.config.get("markdown_card") is not False
        return TelegramApi(self._client, self._sender, self._drafts, lambda: self._me, self._link.content, markdown)

    async def hook(self, call: HookCall) -> HookAnswer:
        if self._webhook is None:
            return HookAnswer(404, "this bot asks Telegram for its updates; choose the mode webhook to be called")
        if not self._me.id:
            return HookAnswer(503, "the bot is not connected to Telegram yet")
        return await self._webhook.hook(call)

    async def _connected(self) -> str:
        """Serves the bot until something fails, and returns the reason."""
        try:
            self._me = users.me(await self._client.call("getMe", {}))
            await self._drafts.look()
            await self._inflow.begin(self._me)
            await self._way.begin()
            self._link.state("connected")
            await self._way.serve()
        except Unauthorized:
            raise AdapterStopped(WRONG_TOKEN) from None
        except Conflict as conflict:
            return OTHER_INSTANCE if "webhook" not in conflict.reason else conflict.reason
        except PlatformAway:
            return "Telegram can't be reached; check the network, a proxy, or api_base_url"
        except PlatformRefused as refused:
            return refused.reason
        except PlatformUncertain as unknown:
            return str(unknown)
        except ValueError:
            return "what answers at api_base_url is not the Bot API"
        return "Telegram ended the connection"


def create(link: Link) -> Adapter:
    return Telegram(link)
