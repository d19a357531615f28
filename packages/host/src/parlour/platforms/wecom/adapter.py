"""Runs a WeCom application: wires client and API, verifies and stores the calls of WeCom."""

import logging

from parlour.core.backoff import Backoff
from parlour.core.journal import StorageFailed
from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.core.platforms.port import AdapterFactory, HostLink, PlatformRefused, PlatformUncertain
from parlour.platforms._kit.callback_service import CallbackService
from parlour.platforms._kit.encrypted_callbacks import CallbackCipher, read_xml
from parlour.platforms._kit.encrypted_calls import EncryptedCalls, refuse
from parlour.platforms._kit.errcode_client import ErrcodeClient, ErrcodeService, token_query
from parlour.platforms._kit.login import required
from parlour.platforms._kit.payloads import Payload, text
from parlour.platforms._kit.proxy_fields import configured_proxies
from parlour.platforms._kit.turns import Turns
from parlour.platforms._kit.user_cache import UserCache
from parlour.platforms._kit.webhooks import WebhookRejected
from parlour.platforms._kit.wechat_content import FILE_KINDS, fetch_file

from .api import WecomApi
from .decode import USER_KEY, chat_of, decode
from .entities import SERVICE

logger = logging.getLogger(__name__)

BASE_URL = "https://qyapi.weixin.qq.com/cgi-bin"
USER_CACHE_SECONDS = 3600.0
USER_TIMEOUT_SECONDS = 1.5
"""Seconds for which a message waits for the sender's name; WeCom wants its answer within five."""
STOP_CODES = {
    40001: "secret: WeCom does not accept it; copy the secret of the application again",
    40013: "corpid: WeCom does not know it; copy the company id from the page My Company",
    40091: "secret: WeCom does not accept it; copy the secret of the application again",
}


class WecomAdapter:
    """Adapter of one WeCom application."""

    def __init__(self, link: HostLink, backoff: Backoff) -> None:
        config = link.config
        self._link = link
        corp_id = required(link, "corpid", "the company id is needed, from the page My Company")
        secret = required(link, "secret", "the secret of the application is needed")
        token = required(link, "token", "the token is needed, from the page API reception of the application")
        key = required(link, "encoding_aes_key", "the EncodingAESKey is needed, from the page API reception")
        self._calls = EncryptedCalls(CallbackCipher(token, key, corp_id))
        base_url = str(config.get("api_base_url") or BASE_URL).rstrip("/")
        proxies = configured_proxies(config)

        def client(client_secret: str) -> ErrcodeClient:
            request = token_query("gettoken", corpid=corp_id, corpsecret=client_secret)
            return ErrcodeClient(ErrcodeService(SERVICE, request, {}), base_url, proxies)

        self._client = client(secret)
        contacts_secret = str(config.get("contacts_secret") or "").strip()
        self._contacts = client(contacts_secret) if contacts_secret else self._client
        self._users = UserCache(self._fetch_user, USER_CACHE_SECONDS, USER_TIMEOUT_SECONDS)
        self._turns = Turns()
        self._api = WecomApi(self._client, self._users, link.content)
        self._service = CallbackService(link, SERVICE, backoff, STOP_CODES)

    async def serve(self) -> None:
        async with self._client.connection(), self._contacts.connection():
            await self._service.serve(self._client)

    def api(self, account: str = "") -> WecomApi:
        return self._api

    async def hook(self, call: HookCall) -> HookResponse:
        if call.method == "GET":
            return self._calls.answer_check(call)
        try:
            content = self._calls.read_message(call)
        except WebhookRejected as rejected:
            return refuse(rejected)
        if not self._service.is_connected:
            return HookResponse(503, "the bot is not connected to WeCom yet")
        try:
            message: Payload = dict(read_xml(content))
        except WebhookRejected:
            message = {"unreadable": content[:1000].decode(errors="replace")}
        try:
            async with self._turns.turn(chat_of(message)):
                await self._link.receive(decode(await self._complete(message), self._link.bot_id))
        except StorageFailed as error:
            return HookResponse(503, error.message)
        await self._close_card(message)
        return HookResponse()

    async def _complete(self, message: Payload) -> Payload:
        """Adds what WeCom provides only on request: the sender's name, and the content of a file."""
        message = {**message, USER_KEY: await self._users.find(text(message, "FromUserName"))}
        if text(message, "MsgType") in FILE_KINDS and text(message, "MediaId"):
            message |= await fetch_file(self._client, text(message, "MediaId"))
        return message

    async def _close_card(self, message: Payload) -> None:
        code, agent_id = text(message, "ResponseCode"), text(message, "AgentID")
        if not code or not agent_id.isdecimal():
            return
        try:
            await self._api.close_card(code, text(message, "FromUserName"), int(agent_id))
        except (PlatformRefused, PlatformUncertain) as error:
            logger.info("bot %s: the buttons of a card stay: %s", self._link.bot_id, error)

    async def _fetch_user(self, user_id: str) -> Payload:
        return await self._contacts.get("user/get", userid=user_id)


def adapter_factory() -> AdapterFactory:
    return lambda link: WecomAdapter(link, Backoff())
