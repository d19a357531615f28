"""Runs the customer service of WeCom: verifies the calls of WeCom, and fetches the messages that they announce."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from parlour.core.asyncio_utils import BackgroundTasks
from parlour.core.backoff import Backoff
from parlour.core.journal import StorageFailed
from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.core.platforms.port import AdapterFactory, HostLink, IncomingEvent, PlatformRefused
from parlour.platforms._kit.callback_service import CallbackService
from parlour.platforms._kit.encrypted_callbacks import CallbackCipher, read_xml
from parlour.platforms._kit.encrypted_calls import EncryptedCalls, refuse
from parlour.platforms._kit.errcode_client import ErrcodeClient, ErrcodeService, token_query
from parlour.platforms._kit.login import required
from parlour.platforms._kit.payloads import Payload, objects_in, text
from parlour.platforms._kit.proxy_fields import configured_proxies
from parlour.platforms._kit.user_cache import UserCache
from parlour.platforms._kit.webhooks import WebhookRejected

from .api import WecomCsApi
from .decode import decode_report
from .entities import MEANINGS, SERVICE
from .puller import WecomCsPuller

BASE_URL = "https://qyapi.weixin.qq.com/cgi-bin"
CUSTOMER_CACHE_SECONDS = 60.0
CUSTOMER_TIMEOUT_SECONDS = 1.5
MAX_ANSWER_SECONDS = 4.0
"""Seconds after which a call is acknowledged while its messages are still fetched: WeCom repeats it after five."""
MESSAGES_EVENT = "kf_msg_or_event"
STOP_CODES = {
    40001: "secret: WeCom does not accept it; copy the secret of WeChat Customer Service again",
    40013: "corpid: WeCom does not know it; copy the company id from the page My Company",
    40091: "secret: WeCom does not accept it; copy the secret of WeChat Customer Service again",
}


class WecomCsAdapter:
    """Adapter of the customer service of one company, with all its accounts."""

    def __init__(self, link: HostLink, backoff: Backoff) -> None:
        config = link.config
        self._link = link
        corp_id = required(link, "corpid", "the company id is needed, from the page My Company")
        secret = required(link, "secret", "the secret of WeChat Customer Service is needed")
        token = required(link, "token", "the token is needed, from the page API of WeChat Customer Service")
        key = required(link, "encoding_aes_key", "the EncodingAESKey is needed, from the same page as the token")
        self._calls = EncryptedCalls(CallbackCipher(token, key, corp_id))
        base_url = str(config.get("api_base_url") or BASE_URL).rstrip("/")
        request = token_query("gettoken", corpid=corp_id, corpsecret=secret)
        self._client = ErrcodeClient(ErrcodeService(SERVICE, request, MEANINGS), base_url, configured_proxies(config))
        customers = UserCache(self._fetch_customer, CUSTOMER_CACHE_SECONDS, CUSTOMER_TIMEOUT_SECONDS)
        self._api = WecomCsApi(self._client, customers, link.content)
        welcome = str(config.get("welcome_message") or "").strip()
        self._puller = WecomCsPuller(link, self._client, customers, self._api, welcome)
        self._service = CallbackService(link, SERVICE, backoff, STOP_CODES)
        self._tasks: BackgroundTasks | None = None

    async def serve(self) -> None:
        """Fetches what arrived while the Host was stopped, and then what each call announces."""
        self._tasks = tasks = BackgroundTasks("messages of customers are no longer fetched")
        try:
            async with self._client.connection():
                await self._service.serve(self._client, lambda: tasks.start(self._pull_missed()))
        finally:
            self._tasks = None
            await tasks.aclose()

    def api(self, account: str = "") -> WecomCsApi:
        return self._api

    async def hook(self, call: HookCall) -> HookResponse:
        if call.method == "GET":
            return self._calls.answer_check(call)
        try:
            content = self._calls.read_message(call)
        except WebhookRejected as rejected:
            return refuse(rejected)
        tasks = self._tasks
        if not self._service.is_connected or tasks is None:
            return HookResponse(503, "the bot is not connected to WeCom yet")
        try:
            report: Payload = dict(read_xml(content))
        except WebhookRejected:
            report = {"unreadable": content[:1000].decode(errors="replace")}
        account_id = text(report, "OpenKfId")
        if text(report, "Event") != MESSAGES_EVENT or not account_id:
            return await self._store(decode_report(report, self._link.bot_id))
        return await self._acknowledge(tasks, self._puller.pull(account_id, text(report, "Token")))

    async def _store(self, incoming: IncomingEvent) -> HookResponse:
        try:
            await self._link.receive(incoming)
        except StorageFailed as error:
            return HookResponse(503, error.message)
        return HookResponse()

    async def _acknowledge(self, tasks: BackgroundTasks, pull: Coroutine[Any, Any, bool]) -> HookResponse:
        """Answers when the messages are stored, or just before WeCom gives up: then they are still fetched, and WeCom
        keeps them until their position is stored.
        """
        pulling = tasks.start(pull)
        await asyncio.wait([pulling], timeout=MAX_ANSWER_SECONDS)
        is_stored = not pulling.done() or (not pulling.cancelled() and pulling.exception() is None and pulling.result())
        return HookResponse() if is_stored else HookResponse(503, "the messages could not be fetched")

    async def _pull_missed(self) -> None:
        for account_id in await self._puller.accounts():
            await self._puller.pull(account_id)

    async def _fetch_customer(self, customer_id: str) -> Payload:
        answer = await self._client.post("kf/customer/batchget", {"external_userid_list": [customer_id]})
        found = objects_in(answer, "customer_list")
        if not found:
            raise PlatformRefused("there is no such customer, or they wrote more than 48 hours ago", permanent=True)
        return found[0]


def adapter_factory() -> AdapterFactory:
    return lambda link: WecomCsAdapter(link, Backoff())
