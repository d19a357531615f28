"""Runs an official account of WeChat: verifies and stores the calls, and answers them with passive replies."""

import asyncio
from time import monotonic
from typing import cast

from parlour.core.asyncio_utils import BackgroundTasks
from parlour.core.backoff import Backoff
from parlour.core.journal import StorageFailed
from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.core.platforms.port import AdapterFactory, HostLink
from parlour.platforms._kit.callback_service import CallbackService
from parlour.platforms._kit.encrypted_callbacks import read_xml
from parlour.platforms._kit.encrypted_calls import refuse
from parlour.platforms._kit.errcode_client import ErrcodeClient, ErrcodeService, token_body
from parlour.platforms._kit.login import required
from parlour.platforms._kit.payloads import Payload, text
from parlour.platforms._kit.proxy_fields import configured_proxies
from parlour.platforms._kit.turns import Turns
from parlour.platforms._kit.user_cache import UserCache
from parlour.platforms._kit.webhooks import WebhookRejected
from parlour.platforms._kit.wechat_content import FILE_KINDS, fetch_file

from .api import OfficialAccountApi
from .calls import OfficialAccountCalls, WrongMode
from .decode import chat_of, decode, is_answerable
from .encode import passive_reply
from .entities import MEANINGS, SERVICE, Mode
from .replies import ANSWER_SECONDS, Exchange, PassiveReplies

BASE_URL = "https://api.weixin.qq.com"
USER_CACHE_SECONDS = 3600.0
USER_TIMEOUT_SECONDS = 1.5
STOP_CODES = {
    40013: "app_id: WeChat does not know it; copy the AppID from the page Basic Configuration",
    40125: "app_secret: WeChat does not accept it; copy the AppSecret again, or reset it",
    40243: "app_secret: it is frozen; unfreeze it on the page Basic Configuration",
}
SUCCESS = HookResponse(text="success")
"""Tells WeChat that there is no reply and that it need not call again."""


class OfficialAccountAdapter:
    """Adapter of one official account."""

    def __init__(self, link: HostLink, backoff: Backoff) -> None:
        config = link.config
        self._link = link
        app_id = required(link, "app_id", "the AppID is needed, from the page Basic Configuration")
        secret = required(link, "app_secret", "the AppSecret is needed, from the page Basic Configuration")
        token = required(link, "token", "the token is needed, as entered on the page Basic Configuration")
        key = str(config.get("encoding_aes_key") or "").strip()
        self._mode = cast(Mode, config.get("mode") or "passive")
        self._loading_message = str(config.get("loading_message") or "").strip()
        self._welcome_message = str(config.get("welcome_message") or "").strip()
        self._calls = OfficialAccountCalls(token, key, app_id)
        base_url = str(config.get("api_base_url") or BASE_URL).rstrip("/").removesuffix("/cgi-bin")
        identity = {"grant_type": "client_credential", "appid": app_id, "secret": secret, "force_refresh": False}
        service = ErrcodeService(SERVICE, token_body("stable_token", identity), MEANINGS)
        self._client = ErrcodeClient(service, f"{base_url}/cgi-bin", configured_proxies(config))
        self._replies = PassiveReplies(self._mode)
        users = UserCache(self._fetch_user, USER_CACHE_SECONDS, USER_TIMEOUT_SECONDS)
        self._api = OfficialAccountApi(link, self._mode, self._client, users, self._replies)
        self._service = CallbackService(link, SERVICE, backoff, STOP_CODES)
        self._turns = Turns()
        self._tasks: BackgroundTasks | None = None

    async def serve(self) -> None:
        self._tasks = tasks = BackgroundTasks("a message was not stored; WeChat reports it again")
        try:
            async with self._client.connection():
                await self._service.serve(self._client)
        finally:
            self._tasks = None
            await tasks.aclose()

    def api(self, account: str = "") -> OfficialAccountApi:
        return self._api

    async def hook(self, call: HookCall) -> HookResponse:
        started = monotonic()
        if call.method == "GET":
            return self._calls.answer_check(call)
        try:
            content = self._calls.read_message(call)
        except WrongMode as wrong:
            self._link.report_status("connected", str(wrong))
            return refuse(wrong)
        except WebhookRejected as rejected:
            return refuse(rejected)
        tasks = self._tasks
        if not self._service.is_connected or tasks is None:
            return HookResponse(503, "the bot is not connected to WeChat yet")
        try:
            message: Payload = dict(read_xml(content))
        except WebhookRejected:
            message = {"unreadable": content[:1000].decode(errors="replace")}
        exchange = self._replies.exchange(decode(message, self._link.bot_id, self._mode).event.event_id)
        exchange.attempts += 1
        if exchange.storing is None or exchange.storing.done():
            exchange.storing = tasks.start(self._store(message))
        storing = exchange.storing
        await asyncio.wait([storing], timeout=ANSWER_SECONDS)
        if not storing.done() or storing.cancelled() or storing.exception() is not None or not storing.result():
            return HookResponse(503, "the message is not stored yet")
        return await self._answer(call, message, exchange, started)

    async def _store(self, message: Payload) -> bool:
        """Stores a message with its file. Returns False if the storage failed."""
        async with self._turns.turn(chat_of(message)):
            if text(message, "MsgType") in FILE_KINDS and text(message, "MediaId"):
                message = {**message, **await fetch_file(self._client, text(message, "MediaId"))}
            try:
                await self._link.receive(decode(message, self._link.bot_id, self._mode))
            except StorageFailed:
                return False
        return True

    async def _answer(self, call: HookCall, message: Payload, exchange: Exchange, started: float) -> HookResponse:
        """Answers a call with the reply to its message, if there is one in time."""
        if not is_answerable(message) or "CreateTime" not in message:
            return SUCCESS
        chat = chat_of(message)
        if self._welcome_message and text(message, "Event").lower() == "subscribe":
            exchange.close()
            return self._reply(call, message, _text(self._welcome_message))
        if self._mode == "service":
            return SUCCESS
        reply = await self._replies.wait(exchange, chat, started)
        if reply is not None:
            return self._reply(call, message, reply)
        if not exchange.is_closed:
            return HookResponse(503, "the reply is not ready yet")  # WeChat has given up this call and makes another
        if self._mode == "passive" and self._loading_message and self._replies.is_unanswered(chat):
            return self._reply(call, message, _text(self._loading_message))
        return SUCCESS

    def _reply(self, call: HookCall, message: Payload, body: Payload) -> HookResponse:
        return self._calls.reply(
            passive_reply(body, sender=text(message, "ToUserName"), receiver=text(message, "FromUserName")), call
        )

    async def _fetch_user(self, open_id: str) -> Payload:
        return await self._client.get("user/info", openid=open_id, lang="zh_CN")


def _text(content: str) -> Payload:
    return {"msgtype": "text", "text": {"content": content}}


def adapter_factory() -> AdapterFactory:
    return lambda link: OfficialAccountAdapter(link, Backoff())
