"""Holds the updates that wait for the bot and delivers them by a long poll or by a webhook until they are accepted."""

import asyncio
import itertools
from contextlib import suppress
from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout

from .failures import Failed
from .native import Payload, now

MOST = 100
RETRY_SECONDS = 0.1
OPT_IN = ("chat_member", "message_reaction", "message_reaction_count")
"""Kinds that are delivered only to bots that request them by name."""
WEBHOOK_ACTIVE = (
    "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
)
OTHER_POLL = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"


class Updates:
    def __init__(self, first: int = 500_000_000) -> None:
        self.waiting: list[Payload] = []
        self.reported: list[Payload] = []
        """All updates since the start."""
        self.webhook: Payload = {}
        self.deliveries = 0
        """Number of webhook calls."""
        self.polls = 0
        self._repeated: list[Payload] = []
        self._allowed: list[str] = []
        self._numbers = itertools.count(first)
        self._changed = asyncio.Condition()
        self._poll = 0
        self._error: Payload = {}

    async def put(self, update: Payload) -> Payload:
        """Adds an update and gives it a number unless it has one."""
        numbered = {"update_id": next(self._numbers), **update}
        self.reported.append(numbered)
        kind = next((name for name in numbered if name != "update_id"), "")
        if kind in self._allowed if self._allowed else kind not in OPT_IN:
            self.waiting.append(numbered)
            await self.notify()
        return numbered

    async def repeat(self, update: Payload) -> None:
        """Delivers an update once more, even if it was confirmed."""
        (self.waiting if self.webhook else self._repeated).append(update)
        await self.notify()

    async def poll(self, params: Payload) -> list[Payload]:
        """Returns waiting updates. Updates below the offset are forgotten; the rest comes again
        until it is confirmed.
        """
        self.polls += 1
        if self.webhook:
            raise Failed(409, WEBHOOK_ACTIVE)
        self._poll += 1
        own_poll = self._poll
        await self.notify()
        self._allow(params)
        self._confirm(params.get("offset") or 0)
        with suppress(TimeoutError):
            async with asyncio.timeout(params.get("timeout") or 0.001), self._changed:
                await self._changed.wait_for(lambda: bool(self.waiting or self._repeated) or self._poll != own_poll)
        if self._poll != own_poll:
            raise Failed(409, OTHER_POLL)
        repeated, self._repeated = self._repeated, []
        return [*repeated, *self.waiting[: params.get("limit") or MOST]]

    async def set_webhook(self, params: Payload, local: bool) -> bool:
        url = str(params.get("url") or "")
        if url and not url.startswith("https://") and not local:
            raise Failed(400, "Bad Request: bad webhook: An HTTPS URL must be provided for webhook")
        self._allow(params)
        self.webhook = {"url": url, "secret": params.get("secret_token") or ""} if url else {}
        await self.notify()
        return True

    async def delete_webhook(self, params: Payload) -> bool:
        self.webhook = {}
        if params.get("drop_pending_updates"):
            self.waiting.clear()
        return True

    def webhook_info(self) -> Payload:
        info = {"url": self.webhook.get("url", ""), "has_custom_certificate": False}
        return {**info, "pending_update_count": len(self.waiting), **self._error}

    async def call_webhook(self) -> None:
        """Calls the webhook while the server runs: one update after the other, each until it is accepted."""
        async with ClientSession(timeout=ClientTimeout(total=30)) as session:
            while True:
                async with self._changed:
                    await self._changed.wait_for(lambda: bool(self.waiting and self.webhook))
                if await self._delivered(session, self.waiting[0]):
                    self.waiting.pop(0)
                    await self.notify()
                else:
                    await asyncio.sleep(RETRY_SECONDS)

    async def _delivered(self, session: ClientSession, update: Payload) -> bool:
        self.deliveries += 1
        headers = {"X-Telegram-Bot-Api-Secret-Token": self.webhook["secret"]} if self.webhook["secret"] else {}
        try:
            async with session.post(self.webhook["url"], json=update, headers=headers) as response:
                status = response.status
        except (ClientError, TimeoutError, OSError):
            status = 0
        is_delivered = 200 <= status < 300
        message = f"Wrong response from the webhook: {status}" if status else "Connection refused"
        self._error = {} if is_delivered else {"last_error_date": now(), "last_error_message": message}
        return is_delivered

    def _allow(self, params: Payload) -> None:
        allowed: Any = params.get("allowed_updates")
        if isinstance(allowed, list):
            self._allowed = allowed

    def _confirm(self, offset: int) -> None:
        if offset < 0:
            del self.waiting[:offset]
        elif offset:
            self.waiting[:] = [each for each in self.waiting if each["update_id"] >= offset]

    async def notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()
