"""Receives updates as calls from Telegram.

An update is acknowledged when it is durable; until then Telegram repeats it.
"""

import asyncio
import hashlib
import hmac
import logging

from parlour.core.journal import StorageFailed
from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.core.platforms.port import AdapterStopped, HostLink
from parlour.platforms._kit.json_frames import FrameUnreadable, read_frame

from .client import TelegramClient
from .polling import ALLOWED_UPDATES
from .updates import UpdateProcessor
from .values import object_in, text

logger = logging.getLogger(__name__)

SECRET_HEADER = "x-telegram-bot-api-secret-token"
CHECK_INTERVAL_SECONDS = 60.0


class TelegramWebhook:
    """Update source of the mode `webhook`."""

    def __init__(self, link: HostLink, client: TelegramClient, inflow: UpdateProcessor, token: str) -> None:
        self._link = link
        self._client = client
        self._inflow = inflow
        base = str(link.config.get("webhook_url") or link.public_url).rstrip("/")
        if not base.startswith(("https://", "http://")):
            message = (
                "webhook_url: the public address of this Host is needed, as https://host, here or in http.public_url"
            )
            raise AdapterStopped(message)
        self._url = f"{base}/hooks/{link.bot_id}"
        given = str(link.config.get("secret_token") or "")
        self._secret = given or hmac.new(token.encode(), link.bot_id.encode(), hashlib.sha256).hexdigest()

    async def begin(self) -> None:
        asked = {"url": self._url, "secret_token": self._secret, "allowed_updates": list(ALLOWED_UPDATES)}
        await self._client.call("setWebhook", asked)

    async def serve(self) -> None:
        """Checks the webhook at intervals: registers it again if it was replaced, and reports delivery errors.

        Runs until a call fails.
        """
        while True:
            await asyncio.sleep(CHECK_INTERVAL_SECONDS)
            told = object_in({"info": await self._client.call("getWebhookInfo", {})}, "info")
            if told.get("url") != self._url:
                await self.begin()
            problem = text(told, "last_error_message") if told.get("pending_update_count") else None
            sentence = f"Telegram can't deliver to {self._url}: {problem}" if problem else ""
            self._link.report_status("connected", sentence)

    async def hook(self, call: HookCall) -> HookResponse:
        given = call.headers.get(SECRET_HEADER, "")
        if not hmac.compare_digest(given.encode(), self._secret.encode()):
            return HookResponse(401, "the secret token is missing or wrong")
        try:
            update = read_frame(call.body)
        except FrameUnreadable:
            logger.warning("bot %s was called with something that is not an update", self._link.bot_id)
            return HookResponse(200)  # an error status would only make Telegram repeat it
        try:
            await self._inflow.process([update])
        except StorageFailed as error:
            return HookResponse(503, error.message)
        return HookResponse(200)
