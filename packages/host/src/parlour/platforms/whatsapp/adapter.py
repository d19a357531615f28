"""Runs a bot on WhatsApp: checks the token and the number, watches the webhook, and takes the calls of Meta."""

import asyncio

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
from parlour.platforms._kit.payloads import Payload, object_in, text
from parlour.platforms._kit.proxy_fields import configured_proxies

from .api import WhatsAppApi
from .client import API_VERSION, BASE_URL, UnknownNumber, WhatsAppClient, WhatsAppUnauthorized
from .deliveries import DeliveryReports
from .entities import digits
from .webhook import WhatsAppWebhook

CHECK_INTERVAL_SECONDS = 300.0
FIELDS = ("display_phone_number", "verified_name", "quality_rating", "webhook_configuration")
WRONG_TOKEN = (
    "access_token: WhatsApp does not accept it; create a token of a system user with the right "
    "whatsapp_business_messaging in the Meta Business settings"
)
WRONG_NUMBER = (
    "phone_number_id: there is no such number, or the token has no access to it; copy the id, which is not the number "
    "itself, from the page API Setup of the app"
)
NO_WEBHOOK = "the app has no webhook; enter the bot's address on the page Configuration, and subscribe to messages"


class WhatsAppAdapter:
    """Adapter of one phone number."""

    def __init__(self, link: HostLink, backoff: Backoff) -> None:
        config = link.config
        self._link = link
        self._backoff = backoff
        number_id = required(link, "phone_number_id", "the id of the number is needed, from the page API Setup")
        token = required(link, "access_token", "the token of a system user is needed, from the Meta Business settings")
        required(link, "app_secret", "the app secret is needed, from the page App settings, Basic")
        required(link, "verify_token", "a token of your choice is needed, which is entered at Meta too")
        base = str(config.get("api_base_url") or BASE_URL).rstrip("/")
        version = str(config.get("api_version") or API_VERSION).strip("/ ")
        self._client = WhatsAppClient(base, version, number_id, token, configured_proxies(config))
        deliveries, latest = DeliveryReports(), BoundedMap[str, str]()
        self._webhook = WhatsAppWebhook(link, self._client, deliveries, latest, self._report_problem)
        self._api = WhatsAppApi(self._client, link.content, deliveries, latest)
        self._is_serving = False

    async def serve(self) -> None:
        self._link.report_status("connecting")
        async with self._client.connection():
            known = await log_in(self._link, self._backoff, self._read_number)
            self._is_serving = True
            try:
                await self._watch(known)
            finally:
                self._is_serving = False

    def api(self, account: str = "") -> WhatsAppApi:
        return self._api

    async def hook(self, call: HookCall) -> HookResponse:
        if not self._is_serving:
            return HookResponse(503, "the bot is not connected to WhatsApp yet")
        return self._webhook.verify(call) if call.method == "GET" else await self._webhook.hook(call)

    def _report_problem(self, problem: str) -> None:
        if self._is_serving:
            self._link.report_status("connected", problem)

    async def _read_number(self) -> Payload:
        try:
            known = await self._client.phone_number(*FIELDS)
        except WhatsAppUnauthorized:
            raise AdapterStopped(WRONG_TOKEN) from None
        except UnknownNumber:
            raise AdapterStopped(WRONG_NUMBER) from None
        self._webhook.own_number = digits(text(known, "display_phone_number"))
        return known

    async def _watch(self, known: Payload) -> None:
        """Reports the bot as connected, with what is wrong with its webhook, and checks it at intervals."""
        while True:
            self._link.report_status("connected", self._webhook_problem(known))
            await asyncio.sleep(CHECK_INTERVAL_SECONDS)
            try:
                known = await self._read_number()
            except (PlatformRefused, PlatformUncertain) as error:
                self._link.report_status("connected", f"{error}; WhatsApp is asked again later")

    def _webhook_problem(self, known: Payload) -> str:
        """Returns what keeps WhatsApp from calling the bot, in a sentence; empty if nothing does."""
        if "webhook_configuration" not in known:
            return ""  # the token may not read it
        used = object_in(known, "webhook_configuration")
        address = next((text(used, name) for name in ("phone_number", "whatsapp_business_account", "application")
                        if text(used, name)), "")  # fmt: skip
        if not address:
            return NO_WEBHOOK
        if not address.partition("?")[0].rstrip("/").endswith(f"/hooks/{self._link.bot_id}"):
            return f"the number calls another address; its webhook must end with /hooks/{self._link.bot_id}"
        return ""


def adapter_factory() -> AdapterFactory:
    return lambda link: WhatsAppAdapter(link, Backoff())
