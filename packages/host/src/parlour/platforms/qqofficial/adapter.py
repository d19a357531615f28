"""Runs an official bot of QQ: wires client, gateway or webhook, and API, and answers pressed buttons."""

import asyncio
import json
import logging
from contextlib import suppress
from time import time
from typing import Any

from parlour.core.asyncio_utils import BackgroundTasks
from parlour.core.backoff import Backoff
from parlour.core.encoding import dumps
from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.core.platforms.port import (
    AdapterFactory,
    AdapterStopped,
    HostLink,
    PlatformRefused,
    PlatformUncertain,
)
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.intake import EventQueue
from parlour.platforms._kit.login import required
from parlour.platforms._kit.payloads import Payload, object_in, text
from parlour.platforms._kit.proxy_fields import configured_proxies
from parlour.platforms._kit.websocket_client import PlatformWebSocketClient

from .api import QQApi
from .client import WRONG_LOGIN_CODE, QQClient, QQRefused
from .decode import chat_of, decode
from .entities import API_URL, SERVICE, TOKEN_URL
from .gateway import POLICY, WRONG_SECRET, QQDispatch, QQGateway
from .stream import OpenStreams
from .webhook import QQWebhook

logger = logging.getLogger(__name__)

CHECK_INTERVAL_SECONDS = 300.0


class QQAdapter:
    """Adapter of one bot."""

    def __init__(self, link: HostLink, backoff: Backoff) -> None:
        config = link.config
        self._link = link
        self._backoff = backoff
        app_id = required(link, "appid", "the AppID is needed, from the page Development Settings of the bot")
        secret = required(link, "secret", "the AppSecret is needed, from the page Development Settings of the bot")
        mode = "webhook" if config.get("mode") == "webhook" else "websocket"
        proxies = configured_proxies(config)
        base_url = str(config.get("api_base_url") or API_URL).rstrip("/")
        self._client = QQClient(base_url, str(config.get("auth_url") or TOKEN_URL), app_id, secret, proxies)
        self._newest: BoundedMap[str, Any] = BoundedMap()
        self._streams = OpenStreams(self._store_streams)
        uses_markdown = config.get("enable_markdown") is True
        self._api = QQApi(self._client, link.content, mode, uses_markdown, self._newest, self._streams)
        self._webhook = QQWebhook(link, app_id, secret) if mode == "webhook" else None
        self._queue: EventQueue[QQDispatch] = EventQueue(self._handle)
        self._gateway = QQGateway(link, self._client, self._submit)
        self._socket = PlatformWebSocketClient(SERVICE, link, self._gateway, proxies, POLICY, backoff)
        self._tasks = BackgroundTasks("a pressed button is not acknowledged")
        self._is_ready = False

    async def serve(self) -> None:
        self._link.report_status("connecting")
        stored = _read_cursor(await self._link.cursor())
        self._streams.load(object_in(stored, "streams"))
        async with self._client.connection():
            try:
                if self._webhook is not None:
                    await self._wait_for_calls(self._webhook)
                else:
                    self._gateway.restore(stored)
                    await self._socket.serve()
            finally:
                self._is_ready = False
                await self._queue.close()
                await self._tasks.aclose()

    def api(self, account: str = "") -> QQApi:
        return self._api

    async def hook(self, call: HookCall) -> HookResponse:
        if self._webhook is None:
            return HookResponse(404, "this bot uses the gateway; choose the mode webhook to be called")
        if not self._is_ready:
            return HookResponse(503, "the bot is not connected to QQ yet")
        return await self._webhook.hook(call, self._note)

    async def _wait_for_calls(self, webhook: QQWebhook) -> None:
        """Reports the bot as connected when QQ accepts its secret, and renews its token."""
        while True:
            try:
                webhook.bot_id = text(await self._client.call("GET", "/users/@me"), "id")
                break
            except (PlatformRefused, PlatformUncertain) as error:
                if isinstance(error, QQRefused) and error.code == WRONG_LOGIN_CODE:
                    raise AdapterStopped(WRONG_SECRET) from None
                seconds = self._backoff.next_delay()
                self._link.report_status("connecting", f"{error}; trying again in {seconds:.0f} s")
                await asyncio.sleep(seconds)
        self._is_ready = True
        while True:
            self._link.report_status("connected")
            await asyncio.sleep(CHECK_INTERVAL_SECONDS)
            with suppress(PlatformRefused, PlatformUncertain):  # a call that needs the token reports it
                await self._client.tokens.get()

    async def _submit(self, event: QQDispatch) -> None:
        await self._queue.submit(chat_of(event.frame), event, 1000)

    async def _handle(self, event: QQDispatch) -> None:
        """Stores an event with the position in the session."""
        incoming = decode(event.frame, self._link.bot_id, self._gateway.bot_id)
        self._note(event.frame)
        if incoming or text(event.frame, "t") == "READY":  # so that a Host that is killed early resumes it
            position = self._gateway.position_with(event)
            await self._link.receive(*incoming, cursor=None if position is None else self._cursor(position))
        self._gateway.handled(event)

    def _note(self, frame: Payload) -> None:
        """Remembers what an answer that grows replies to, and ends the waiting of a user who pressed a button."""
        data, kind = object_in(frame, "d"), text(frame, "t")
        if kind == "C2C_MESSAGE_CREATE":
            self._newest.set(text(object_in(data, "author"), "user_openid"), (text(data, "id"), time()))
        elif kind == "INTERACTION_CREATE":
            self._tasks.start(self._acknowledge(text(data, "id")))

    async def _store_streams(self) -> None:
        await self._link.receive(cursor=self._cursor(self._gateway.position()))

    def _cursor(self, position: Payload) -> str:
        return dumps({**position, "streams": self._streams.dump()})

    async def _acknowledge(self, interaction_id: str) -> None:
        try:
            await self._api.acknowledge(interaction_id)
        except (PlatformRefused, PlatformUncertain) as error:
            logger.info("bot %s: a pressed button was not acknowledged: %s", self._link.bot_id, error)


def _read_cursor(cursor: str | None) -> Payload:
    try:
        stored = json.loads(cursor or "{}")
    except ValueError:
        return {}
    return stored if isinstance(stored, dict) else {}


def adapter_factory() -> AdapterFactory:
    return lambda link: QQAdapter(link, Backoff())
