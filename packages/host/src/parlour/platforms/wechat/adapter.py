"""Runs a bot of a personal WeChat account: waits for messages and stores them with the position behind them."""

import asyncio
import json
from contextlib import suppress
from functools import partial

from parlour.core.backoff import Backoff
from parlour.core.encoding import dumps
from parlour.core.journal import retry_on_storage_failure
from parlour.core.platforms.port import (
    AdapterFactory,
    AdapterStopped,
    HostLink,
    PlatformOffline,
    PlatformRefused,
    PlatformUncertain,
)
from parlour.platforms._kit.login import required
from parlour.platforms._kit.payloads import Payload, text
from parlour.platforms._kit.proxy_fields import configured_proxies

from .api import WechatApi
from .client import SessionExpired, WechatClient
from .decode import decode
from .entities import BASE_URL, CDN_URL, LOGIN_EXPIRED, LOGIN_NEEDED
from .media import WechatMedia
from .typing_tickets import TypingTickets

FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 2.0, 30.0
FAREWELL_SECONDS = 2.0
EMPTY_PAUSE_SECONDS = 0.5
"""Pause after an answer that leads no further, so that a server which does not hold calls is not flooded."""


class WechatAdapter:
    """Adapter of one account."""

    def __init__(self, link: HostLink, backoff: Backoff) -> None:
        config = link.config
        self._link = link
        self._backoff = backoff
        field, _, reason = LOGIN_NEEDED.partition(": ")
        token = required(link, field, reason)
        proxies = configured_proxies(config)
        self._client = WechatClient(str(config.get("base_url") or BASE_URL).rstrip("/"), token, proxies)
        cdn_url = str(config.get("cdn_base_url") or CDN_URL).rstrip("/")
        self._media = WechatMedia(self._client, cdn_url, proxies)
        typing = TypingTickets(self._client, self._handle)
        self._api = WechatApi(self._client, self._media, typing, link.content, self._handle)
        self._position = ""
        self._is_refused = False

    async def serve(self) -> None:
        self._link.report_status("connecting")
        self._position = _read_position(await self._link.cursor())
        async with self._client.connection(), self._media.connection():
            try:
                while True:
                    problem, least = await self._attempt()
                    seconds = max(self._backoff.next_delay(), least)
                    self._link.report_status("connecting", f"{problem}; trying again in {seconds:.0f} s")
                    await asyncio.sleep(seconds)
            finally:
                with suppress(PlatformRefused, PlatformUncertain, TimeoutError):
                    async with asyncio.timeout(FAREWELL_SECONDS):
                        await self._client.announce("msg/notifystop")

    def api(self, account: str = "") -> WechatApi:
        return self._api

    async def _attempt(self) -> tuple[str, float]:
        """Receives messages until a call fails. Returns the problem and the least time to wait in seconds."""
        try:
            if not self._is_refused:
                await self._client.announce("msg/notifystart")
                self._link.report_status("connected")
            while True:
                await self._receive(await self._client.poll(self._position))
        except SessionExpired:
            raise AdapterStopped(LOGIN_EXPIRED) from None
        except PlatformOffline as offline:
            return f"{offline.reason}; check the network, a proxy, or base_url", 0.0
        except PlatformRefused as refused:
            self._is_refused = True
            return refused.reason, refused.retry_after or 0.0
        except PlatformUncertain as error:
            return str(error), 0.0

    async def _receive(self, answer: Payload) -> None:
        """Stores the messages of an answer together with the position behind them."""
        if self._is_refused:
            self._is_refused = False
            self._link.report_status("connected")
        self._backoff.reset()
        found = answer.get("msgs")
        messages = found if isinstance(found, list) else []
        complete = await asyncio.gather(*map(self._complete, messages))
        events = [event for each in complete if (event := decode(each, self._link.bot_id)) is not None]
        position = text(answer, "get_updates_buf") or self._position
        if events or position != self._position:
            store = partial(self._link.receive, *events, cursor=dumps({"position": position}))
            await retry_on_storage_failure(store, f"messages of bot {self._link.bot_id}")
        if position == self._position:
            await asyncio.sleep(EMPTY_PAUSE_SECONDS)
        self._position = position

    async def _complete(self, message: Payload) -> Payload:
        return await self._media.add_files(message) if isinstance(message, dict) else message

    async def _handle(self, user_id: str) -> str:
        return await self._link.reply_handle("private", user_id)


def _read_position(cursor: str | None) -> str:
    try:
        stored = json.loads(cursor) if cursor else {}
    except ValueError:
        return ""
    return text(stored, "position") if isinstance(stored, dict) else ""


def adapter_factory() -> AdapterFactory:
    return lambda link: WechatAdapter(link, Backoff(FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS))
