"""Looks up users for events and remembers them: an event waits only a short time for a name."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain

from .bounded_map import BoundedMap
from .payloads import Payload

logger = logging.getLogger(__name__)

FAILED_CACHE_SECONDS = 60.0


class UserCache:
    """The users that one bot has looked up."""

    def __init__(
        self, fetch: Callable[[str], Awaitable[Payload]], cache_seconds: float, timeout_seconds: float
    ) -> None:
        self._fetch = fetch
        self._cache_seconds = cache_seconds
        self._timeout_seconds = timeout_seconds
        self._known: BoundedMap[str, tuple[float, Payload]] = BoundedMap()

    async def get(self, user_id: str) -> Payload:
        """Returns a user. Raises the errors of the platform port."""
        return self._cached(user_id) or await self._look_up(user_id)

    async def find(self, user_id: str) -> Payload:
        """Returns a user for an event, or an empty object if there is no quick answer."""
        cached = self._cached(user_id)
        if cached is not None or not user_id:
            return cached or {}
        try:
            async with asyncio.timeout(self._timeout_seconds):
                return await self._look_up(user_id)
        except (PlatformRefused, PlatformUncertain, TimeoutError) as error:
            logger.debug("a user could not be looked up: %s", error)
            self._remember(user_id, {}, FAILED_CACHE_SECONDS)
            return {}

    async def _look_up(self, user_id: str) -> Payload:
        user = await self._fetch(user_id)
        self._remember(user_id, user, self._cache_seconds)
        return user

    def _cached(self, user_id: str) -> Payload | None:
        entry = self._known.get(user_id)
        return entry[1] if entry is not None and entry[0] > asyncio.get_running_loop().time() else None

    def _remember(self, user_id: str, user: Payload, seconds: float) -> None:
        self._known.set(user_id, (asyncio.get_running_loop().time() + seconds, user))
