"""Receives updates by long polling. Each request confirms the updates that were stored before."""

import asyncio
import logging
from typing import Any

from parlour.core.journal import StorageFailed
from parlour.core.platforms.port import HostLink

from .client import TelegramClient
from .updates import UpdateProcessor
from .values import Payload, number

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
        asked = {"offset": self._inflow.offset or None, "timeout": seconds, "allowed_updates": list(ALLOWED_UPDATES)}
        await self._process(await self._client.call("getUpdates", asked, seconds=seconds + POLL_GRACE_SECONDS))

    async def _process(self, told: Any) -> None:
        updates: list[Payload] = [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []
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
        if told and not numbers:  # Telegram would send the same updates again immediately
            await asyncio.sleep(RETRY_PAUSE_SECONDS)
