"""Looks up servers and channels, which events name only by their ids."""

import asyncio
import logging

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.payloads import Payload, object_in, text

from .client import KookClient, KookRefused

logger = logging.getLogger(__name__)

CACHE_SECONDS = 600.0
FAILED_CACHE_SECONDS = 60.0
LOOKUP_TIMEOUT_SECONDS = 5.0


class KookGuilds:
    """Servers of one bot, kept for some minutes, and the server of each channel."""

    def __init__(self, client: KookClient) -> None:
        self._client = client
        self._guilds: BoundedMap[str, tuple[float, Payload]] = BoundedMap()
        self._guild_of_channel: BoundedMap[str, str] = BoundedMap()

    def note(self, data: Payload) -> None:
        """Remembers the server of an event's channel."""
        guild_id = text(object_in(data, "extra"), "guild_id")
        if guild_id and data.get("channel_type") == "GROUP":
            self._guild_of_channel.set(text(data, "target_id"), guild_id)

    async def find(self, guild_id: str) -> Payload:
        """Returns a server for an event, or an empty object: an event is not delayed for long."""
        entry = self._guilds.get(guild_id)
        if not guild_id or (entry is not None and entry[0] > asyncio.get_running_loop().time()):
            return entry[1] if entry is not None else {}
        guild: Payload = {}
        try:
            async with asyncio.timeout(LOOKUP_TIMEOUT_SECONDS):
                guild = await self._client.get("guild/view", guild_id=guild_id)
        except (PlatformRefused, PlatformUncertain, TimeoutError) as error:
            logger.debug("server %s could not be looked up: %s", guild_id, error)
        seconds = CACHE_SECONDS if guild else FAILED_CACHE_SECONDS
        self._guilds.set(guild_id, (asyncio.get_running_loop().time() + seconds, guild))
        return guild

    async def guild_id(self, group_id: str) -> str:
        """Returns the server of a group id, which names a channel or a server. Raises PlatformRefused."""
        known = self._guild_of_channel.get(group_id)
        if known is not None:
            return known
        try:
            channel = await self._client.get("channel/view", target_id=group_id)
        except KookRefused:
            return group_id
        guild_id = text(channel, "guild_id") or group_id
        self._guild_of_channel.set(group_id, guild_id)
        return guild_id
