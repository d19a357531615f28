"""Looks up users and groups, whose names LINE does not send with events."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.payloads import Payload

from .client import LineClient
from .entities import LineSource, chat_kind

logger = logging.getLogger(__name__)

CACHE_SECONDS = 3600.0
FAILED_CACHE_SECONDS = 60.0
LOOKUP_TIMEOUT_SECONDS = 1.0


class LineProfiles:
    """Profiles of users and summaries of groups, kept for an hour."""

    def __init__(self, client: LineClient) -> None:
        self._client = client
        self._known: BoundedMap[str, tuple[float, Payload]] = BoundedMap()

    async def user(self, user_id: str, chat_id: str = "") -> Payload:
        """Returns the profile of a user, in a group or room if one is given. Raises the errors of the platform port."""
        kind = chat_kind(chat_id) if chat_id else "user"
        place = f"/v2/bot/{kind}/{chat_id}/member/{user_id}" if kind != "user" else f"/v2/bot/profile/{user_id}"
        return await self._get(place, "profile")

    async def group(self, group_id: str) -> Payload:
        return await self._get(f"/v2/bot/group/{group_id}/summary", "group summary")

    async def find_user(self, user_id: str, source: LineSource) -> Payload:
        """Returns a profile for an event, or an empty object: an event is not delayed for long."""
        in_chat = source.chat_id if source.chat_type == "group" else ""
        return await self._find(partial(self.user, user_id, in_chat), f"{in_chat} {user_id}")

    async def find_group(self, source: LineSource) -> Payload:
        if source.kind != "group":
            return {}
        return await self._find(partial(self.group, source.chat_id), source.chat_id)

    async def _find(self, lookup: Callable[[], Awaitable[Payload]], key: str) -> Payload:
        failed = self._cached(f"failed {key}")
        if failed is not None:
            return failed
        try:
            async with asyncio.timeout(LOOKUP_TIMEOUT_SECONDS):
                return await lookup()
        except (PlatformRefused, PlatformUncertain, TimeoutError) as error:
            logger.debug("%s could not be looked up: %s", key, error)
            self._remember(f"failed {key}", {}, FAILED_CACHE_SECONDS)
            return {}

    async def _get(self, path: str, label: str) -> Payload:
        cached = self._cached(path)
        if cached is None:
            cached = await self._client.get(path, label)
            self._remember(path, cached, CACHE_SECONDS)
        return cached

    def _cached(self, key: str) -> Payload | None:
        entry = self._known.get(key)
        return entry[1] if entry is not None and entry[0] > asyncio.get_running_loop().time() else None

    def _remember(self, key: str, value: Payload, seconds: float) -> None:
        self._known.set(key, (asyncio.get_running_loop().time() + seconds, value))
