"""Finds the channel of a private chat and the guild of a channel, which later calls need."""

from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.payloads import UNREADABLE, Payload, identifier, object_in, text

from .client import NotServed, SatoriClient
from .entities import DIRECT, SatoriLogin


class SatoriChannels:
    """Channels and guilds that events have named, by login."""

    def __init__(self, client: SatoriClient) -> None:
        self._client = client
        self._direct: BoundedMap[tuple[str, str], str] = BoundedMap()
        self._guilds: BoundedMap[tuple[str, str], str] = BoundedMap()

    def note(self, login: SatoriLogin, body: Payload) -> None:
        """Remembers the channel of an event."""
        try:
            channel_id = identifier(object_in(body, "channel").get("id"))
        except UNREADABLE:
            return
        person = object_in(body, "user").get("id")
        if object_in(body, "channel").get("type") == DIRECT:
            if isinstance(person, str) and person and person != login.self_id:
                self._direct.set((login.account, person), channel_id)
        elif text(object_in(body, "guild"), "id"):
            self._guilds.set((login.account, channel_id), text(object_in(body, "guild"), "id"))

    async def direct(self, login: SatoriLogin, user_id: str) -> str:
        """Returns the channel of the private chat with a user. Raises the errors of the port."""
        known = self._direct.get((login.account, user_id))
        if known is not None:
            return known
        try:
            channel = await self._client.call(login, "user.channel.create", {"user_id": user_id})
        except NotServed:
            return user_id  # such a server takes the id of the user, or has no private chats
        channel_id = text(channel, "id") if isinstance(channel, dict) else ""
        if channel_id:
            self._direct.set((login.account, user_id), channel_id)
        return channel_id or user_id

    def guild(self, login: SatoriLogin, group_id: str) -> str:
        """Returns the guild of a group id, which names a channel or a guild."""
        return self._guilds.get((login.account, group_id)) or group_id
