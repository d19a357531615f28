"""Shows that the bot is typing: WeChat wants a ticket for it, which is valid for a day."""

import asyncio
from collections.abc import Awaitable, Callable

from parlour.core.backoff import exponential_delay
from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.payloads import text
from parlour_sdk.values import dataclass

from .client import WechatClient

TICKET_SECONDS = 24 * 3600.0
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 2.0, 3600.0
TYPING = 1
FindHandle = Callable[[str], Awaitable[str]]
"""Returns the newest context token of a user; empty if there is none."""


@dataclass(frozen=True, slots=True)
class TypingTicket:
    """The ticket of one user, or how often it was refused; `until` says when it is fetched again."""

    value: str
    until: float
    failures: int = 0


class TypingTickets:
    """Fetches and keeps the tickets of one account."""

    def __init__(self, client: WechatClient, find_handle: FindHandle) -> None:
        self._client = client
        self._find_handle = find_handle
        self._tickets: BoundedMap[str, TypingTicket] = BoundedMap(1000)

    async def show(self, user_id: str) -> None:
        """Shows the user that the bot is typing, as long as there is a ticket."""
        ticket = await self._ticket(user_id)
        if ticket:
            body = {"ilink_user_id": user_id, "typing_ticket": ticket, "status": TYPING}
            await self._client.call("sendtyping", body)

    async def _ticket(self, user_id: str) -> str:
        now = asyncio.get_running_loop().time()
        known = self._tickets.get(user_id)
        if known is not None and now < known.until:
            return known.value
        failures = known.failures if known is not None else 0
        try:
            body = {"ilink_user_id": user_id, "context_token": await self._find_handle(user_id)}
            answer = await self._client.call("getconfig", body)
            value = text(answer, "typing_ticket")
        except (PlatformRefused, PlatformUncertain):
            value = ""
        if value:
            ticket = TypingTicket(value, now + TICKET_SECONDS)
        else:
            delay = exponential_delay(failures + 1, FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS)
            ticket = TypingTicket("", now + delay, failures + 1)
        self._tickets.set(user_id, ticket)
        return value
