"""Looks up users, whose names and roles Slack does not send with events."""

import asyncio
import logging

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.payloads import Payload, object_in

from .client import SlackClient

logger = logging.getLogger(__name__)

CACHE_SECONDS = 3600.0
FAILED_CACHE_SECONDS = 60.0
LOOKUP_TIMEOUT_SECONDS = 5.0


class SlackUsers:
    """Users of the bot's workspace, kept for an hour."""

    def __init__(self, client: SlackClient) -> None:
        self._client = client
        self._known: BoundedMap[str, tuple[float, Payload]] = BoundedMap()

    async def get(self, user_id: str) -> Payload:
        """Returns a user. Raises the errors of the platform port."""
        cached = self._cached(user_id)
        if cached:
            return cached
        user = object_in(await self._client.call("users.info", user=user_id), "user")
        self._remember(user_id, user, CACHE_SECONDS)
        return user

    async def find(self, user_id: str) -> Payload:
        """Returns a user for an event, or an empty object: an event is not delayed for long."""
        cached = self._cached(user_id)
        if cached is not None or not user_id:
            return cached or {}
        try:
            async with asyncio.timeout(LOOKUP_TIMEOUT_SECONDS):
                return await self.get(user_id)
        except (PlatformRefused, PlatformUncertain, TimeoutError) as error:
            logger.debug("user %s could not be looked up: %s", user_id, error)
            self._remember(user_id, {}, FAILED_CACHE_SECONDS)
            return {}

    def _cached(self, user_id: str) -> Payload | None:
        entry = self._known.get(user_id)
        return entry[1] if entry is not None and entry[0] > asyncio.get_running_loop().time() else None

    def _remember(self, user_id: str, user: Payload, seconds: float) -> None:
        self._known.set(user_id, (asyncio.get_running_loop().time() + seconds, user))
