"""Receives updates by long polling or as calls from Telegram.

Each poll confirms the updates that were stored before. A call is acknowledged when its update is durable; until then
Telegram repeats it.
"""

import asyncio
import logging
from typing import Any

from parlour.core.journal import StorageFailed
from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.core.platforms.port import AdapterStopped, HostLink
from parlour.platforms._kit.json_frames import FrameUnreadable, read_frame
from parlour.platforms._kit.webhooks import WebhookRejected, sign, verify_token

from .client import TelegramClient
from .entities import Payload, number, object_in, text
from .updates import UpdateProcessor

logger = logging.getLogger(__name__)

POLL_SECONDS = 25
POLL_GRACE_SECONDS = 10.0
RETRY_PAUSE_SECONDS = 1.0
ALLOWED_UPDATES = (
    "message",
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "business_connection",
    "business_message",
    "edited_business_message",
    "deleted_business_messages",
    "guest_message",
    "message_reaction",
    "message_reaction_count",
    "inline_query",
    "chosen_inline_result",
    "callback_query",
    "shipping_query",
    "pre_checkout_query",
    "purchased_paid_media",
    "poll",
    "poll_answer",
    "my_chat_member",
    "chat_member",
    "chat_join_request",
    "chat_boost",
    "removed_chat_boost",
    "managed_bot",
)
"""All kinds of updates; those without an event type of their own become `platform.telegram.*`.

Telegram omits reactions and members unless they are requested, and any kind that the list does not name.
"""
SECRET_HEADER = "x-telegram-bot-api-secret-token"
CHECK_INTERVAL_SECONDS = 60.0


class UpdatePoller:
    """Update source of the mode `polling`."""

    def __init__(self, link: HostLink, client: TelegramClient, inflow: UpdateProcessor) -> None:
        self._link = link
        self._client = client
        self._inflow = inflow

    async def begin(self) -> None:
        """Removes the webhook, because Telegram answers polls only without one; pending updates are kept.

        The first poll does not wait: it shows whether polls are answered, and requests all kinds of updates.
        """
        await self._client.call("deleteWebhook", {"drop_pending_updates": False})
        await self._poll(0)

    async def serve(self) -> None:
        """Polls until a call fails."""
        while True:
            await self._poll(POLL_SECONDS)

    async def _poll(self, seconds: int) -> None:
        params = {"offset": self._inflow.offset or None, "timeout": seconds, "allowed_updates": list(ALLOWED_UPDATES)}
        await self._process(await self._client.call("getUpdates", params, seconds=seconds + POLL_GRACE_SECONDS))

    async def _process(self, raw_update: Any) -> None:
        updates: list[Payload] = (
            [each for each in raw_update if isinstance(each, dict)] if isinstance(raw_update, list) else []
        )
        numbers = [each for each in (number(update.get("update_id")) for update in updates) if each is not None]
        try:
            if numbers:
                await self._inflow.process(updates, max(self._inflow.offset, max(numbers) + 1))
        except StorageFailed as error:
            logger.error(
                "updates of bot %s are retried because the database is not available: %s",
                self._link.bot_id,
                error.message,
            )
            numbers = []
        if raw_update and not numbers:  # Telegram would send the same updates again immediately
            await asyncio.sleep(RETRY_PAUSE_SECONDS)


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
        secret = str(link.config.get("secret_token") or "")
        self._secret = secret or sign(token, link.bot_id.encode())

    async def begin(self) -> None:
        params = {"url": self._url, "secret_token": self._secret, "allowed_updates": list(ALLOWED_UPDATES)}
        await self._client.call("setWebhook", params)

    async def serve(self) -> None:
        """Checks the webhook at intervals: registers it again if it was replaced, and reports delivery errors.

        Runs until a call fails.
        """
        while True:
            await asyncio.sleep(CHECK_INTERVAL_SECONDS)
            info = object_in({"info": await self._client.call("getWebhookInfo", {})}, "info")
            if info.get("url") != self._url:
                await self.begin()
            problem = text(info, "last_error_message") if info.get("pending_update_count") else None
            sentence = f"Telegram can't deliver to {self._url}: {problem}" if problem else ""
            self._link.report_status("connected", sentence)

    async def hook(self, call: HookCall) -> HookResponse:
        try:
            verify_token(call.headers.get(SECRET_HEADER, ""), self._secret)
        except WebhookRejected:
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
