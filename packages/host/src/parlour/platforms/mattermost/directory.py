"""Looks up what events name only by ids and names: users, channels, members and the posts that began threads."""

from collections.abc import Iterable

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.payloads import Payload, text
from parlour.platforms._kit.user_cache import UserCache

from .client import MattermostClient
from .entities import checked_id

CACHE_SECONDS, MEMBER_CACHE_SECONDS, TIMEOUT_SECONDS = 3600.0, 300.0, 5.0
MAX_NAMES = 20
"""Maximum number of names in one text that are looked up."""


class MattermostDirectory:
    """The look-ups of one bot. Names of `find` are for events, which wait only shortly."""

    def __init__(self, client: MattermostClient) -> None:
        self._client = client
        self.users = UserCache(self._user, CACHE_SECONDS, TIMEOUT_SECONDS)
        self.channels = UserCache(self._channel, CACHE_SECONDS, TIMEOUT_SECONDS)
        self.posts = UserCache(self._post, CACHE_SECONDS, TIMEOUT_SECONDS)
        self._members = UserCache(self._member, MEMBER_CACHE_SECONDS, TIMEOUT_SECONDS)
        self._ids: BoundedMap[str, str] = BoundedMap()
        """User ids by name."""

    async def find_member(self, channel_id: str, user_id: str) -> Payload:
        """Returns the membership of a user in a channel, or an empty object."""
        return await self._members.find(f"{channel_id}/{user_id}") if channel_id and user_id else {}

    async def member(self, channel_id: str, user_id: str) -> Payload:
        """Returns the membership of a user in a channel. Raises the errors of the platform port."""
        return await self._member(f"{channel_id}/{user_id}")

    async def find_names(self, names: Iterable[str]) -> dict[str, str]:
        """Returns the ids of the users who have these names."""
        wanted = sorted(set(names))[:MAX_NAMES]
        unknown = [each for each in wanted if each not in self._ids]
        if unknown:
            try:
                found = await self._client.post_list("users/usernames", "users", unknown)
            except (PlatformRefused, PlatformUncertain):
                return {}
            for each in found:
                self._ids.set(text(each, "username"), text(each, "id"))
        known = ((each, self._ids.get(each)) for each in wanted)
        return {name: user_id for name, user_id in known if user_id}

    async def username(self, user_id: str) -> str:
        """Returns the name with which a user is mentioned; empty if there is no such user."""
        return text(await self.users.find(user_id), "username")

    async def _user(self, user_id: str) -> Payload:
        return await self._client.get(f"users/{checked_id('user_id', user_id)}", "user")

    async def _channel(self, channel_id: str) -> Payload:
        return await self._client.get(f"channels/{checked_id('channel_id', channel_id)}", "channel")

    async def _post(self, post_id: str) -> Payload:
        return await self._client.get(f"posts/{checked_id('message_id', post_id)}", "post")

    async def _member(self, key: str) -> Payload:
        channel_id, _, user_id = key.partition("/")
        path = f"channels/{checked_id('group_id', channel_id)}/members/{checked_id('user_id', user_id)}"
        return await self._client.get(path, "member")
