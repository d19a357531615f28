"""Looks up channels and servers that the gateway has not reported, as after the resumption of an earlier session."""

import asyncio
import logging

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.payloads import Payload, text

from .client import INVALID_FORM, UNKNOWN_CHANNEL, DiscordClient, DiscordRefused
from .entities import snowflake
from .guilds import DiscordGuilds

logger = logging.getLogger(__name__)

LOOKUP_TIMEOUT_SECONDS = 5.0
INVALID_RECIPIENT, UNKNOWN_USER = 50033, 10013


class DiscordLookups:
    """Completes what is known about the places of events and messages."""

    def __init__(self, client: DiscordClient, guilds: DiscordGuilds) -> None:
        self._client = client
        self._guilds = guilds
        self._missing: BoundedMap[str, bool] = BoundedMap()
        """Ids that could not be looked up, so that each is tried once."""
        self._direct: BoundedMap[str, str] = BoundedMap()
        """Channels of direct messages by user."""

    async def complete(self, frame: Payload) -> None:
        """Looks up the server and the channel of an event, as far as they are needed and unknown."""
        data = frame.get("d")
        if not isinstance(data, dict):
            return
        guild_id, channel_id = text(data, "guild_id"), text(data, "channel_id")
        if not guild_id.isdecimal():
            return
        if self._guilds.guild(guild_id) is None:
            await self._try(f"/guilds/{guild_id}")
        if channel_id.isdecimal() and self._guilds.channel(channel_id) is None:
            await self._try(f"/channels/{channel_id}")

    async def guild_id(self, group_id: str) -> str:
        """Returns the server of a group id, which names a server or one of its channels. Raises PlatformRefused."""
        snowflake("group_id", group_id)
        if self._guilds.guild(group_id) is not None:
            return group_id
        if self._guilds.channel(group_id) is None:
            try:
                self._guilds.add_channel(await self._client.call_object("GET", f"/channels/{group_id}"))
            except DiscordRefused as refused:
                if refused.code != UNKNOWN_CHANNEL:
                    raise
                return group_id  # a server that was not reported; Discord says so if there is none
        return text(self._guilds.channel(group_id) or {}, "guild_id") or group_id

    def is_channel(self, group_id: str) -> bool:
        """Returns whether a group id is known to name a channel rather than a server."""
        return self._guilds.guild(group_id) is None and self._guilds.channel(group_id) is not None

    def channel_for(self, target_type: str, target_id: str, thread_id: str) -> str:
        """Returns the channel for a message: the thread, the channel, or that of a server or user."""
        if thread_id:
            return snowflake("thread_id", thread_id)
        if target_type == "private":
            return self._direct.get(target_id) or snowflake("target_id", target_id)
        if self._guilds.guild(target_id) is not None:
            return self._guilds.writable_channel(target_id) or target_id
        return snowflake("target_id", target_id)

    async def open_direct(self, user_id: str) -> str:
        """Returns the channel for direct messages to a user; empty if this is no user."""
        try:
            channel = await self._client.call_object("POST", "/users/@me/channels", {"recipient_id": user_id})
        except DiscordRefused as refused:
            if refused.code in (INVALID_RECIPIENT, UNKNOWN_USER, INVALID_FORM):
                return ""
            raise
        self._direct.set(user_id, text(channel, "id"))
        return text(channel, "id")

    async def _try(self, path: str) -> None:
        if path in self._missing:
            return
        try:
            async with asyncio.timeout(LOOKUP_TIMEOUT_SECONDS):
                found = await self._client.call_object("GET", path)
                if path.startswith("/guilds/"):
                    self._guilds.add_guild({**found, "channels": await self._client.call_list(f"{path}/channels")})
                else:
                    self._guilds.add_channel(found)
        except (PlatformRefused, PlatformUncertain, TimeoutError, ValueError) as error:
            if isinstance(error, PlatformRefused) and error.permanent:
                self._missing.set(path, True)
            logger.debug("nothing is known about %s: %s", path, error)
