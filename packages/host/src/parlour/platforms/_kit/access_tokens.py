"""Keeps an access token valid: fetched before it expires, by one request at a time, and again if it is rejected."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any, TypeVar

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour_sdk.values import dataclass

logger = logging.getLogger(__name__)

REFRESH_AHEAD_SECONDS = 300.0
"""Default number of seconds before the expiry at which a token is replaced."""
MIN_LIFETIME_SECONDS = 1.0
RETRY_SECONDS = 5.0
"""Seconds between attempts to replace a token that is still valid."""
Result = TypeVar("Result")


class TokenExpired(PlatformRefused):
    """Raised by a call whose token the platform no longer accepts, so nothing was done."""


@dataclass(frozen=True, slots=True)
class FetchedToken:
    """A token as the platform gave it out."""

    value: str
    seconds: float
    """Lifetime in seconds."""

    def __repr__(self) -> str:
        return f"FetchedToken(seconds={self.seconds})"


class AccessTokens:
    """The current access token of one account."""

    def __init__(
        self,
        fetch: Callable[[], Awaitable[FetchedToken]],
        clock: Callable[[], float] = monotonic,
        ahead_seconds: float = REFRESH_AHEAD_SECONDS,
    ) -> None:
        self._fetch = fetch
        self._clock = clock
        self._ahead_seconds = ahead_seconds
        self._token = ""
        self._refresh_at = 0.0
        self._expires_at = 0.0
        self._fetching: asyncio.Task[str] | None = None

    async def get(self) -> str:
        """Returns a valid token. While a valid one is replaced, it is still returned."""
        now = self._clock()
        if self._token and now < self._refresh_at:
            return self._token
        fetching = self._start_fetch()
        if self._token and now < self._expires_at:
            return self._token
        return await asyncio.shield(fetching)

    async def use(self, call: Callable[[str], Awaitable[Result]]) -> Result:
        """Makes a call with the token; once more with a new token if the call raises TokenExpired."""
        token = await self.get()
        try:
            return await call(token)
        except TokenExpired:
            self.reject(token)
        return await call(await self.get())

    async def check(self, call: Callable[[], Awaitable[object]], refusal: type[PlatformRefused]) -> dict[str, Any]:
        """Makes a call that needs a valid token, and returns the answer of the action `check_access_token`."""
        try:
            await call()
        except refusal as refused:
            return {"valid": False, "problem": refused.reason}
        return {"valid": True}

    async def renew(self) -> dict[str, Any]:
        """Replaces the token at once, and returns the answer of the action `refresh_access_token`."""
        self.reject(await self.get())
        await self.get()
        return {"refreshed": True}

    def reject(self, token: str) -> None:
        """Discards a token that the platform did not accept, unless it was replaced already."""
        if token == self._token:
            self._token = ""

    async def close(self) -> None:
        if self._fetching is not None:
            self._fetching.cancel()
            await asyncio.wait([self._fetching])

    def _start_fetch(self) -> "asyncio.Task[str]":
        if self._fetching is None or self._fetching.done():
            self._fetching = asyncio.create_task(self._refresh())
            self._fetching.add_done_callback(_log_failure)
        return self._fetching

    async def _refresh(self) -> str:
        self._refresh_at = self._clock() + RETRY_SECONDS  # in case that it fails
        fetched = await self._fetch()
        lifetime = max(fetched.seconds, MIN_LIFETIME_SECONDS)
        now = self._clock()
        self._token = fetched.value
        self._expires_at = now + lifetime
        self._refresh_at = now + max(lifetime - self._ahead_seconds, lifetime / 2)
        return fetched.value


def _log_failure(task: "asyncio.Task[str]") -> None:
    error = None if task.cancelled() else task.exception()
    if isinstance(error, PlatformRefused | PlatformUncertain):
        logger.warning("an access token could not be fetched: %s", error)
    elif error is not None:
        logger.error("an access token could not be fetched (%s)", type(error).__name__)
