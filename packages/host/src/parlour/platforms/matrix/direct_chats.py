"""Which room is meant: by its id, by an alias, or as the one that the bot shares with a single user."""

from parlour.core.platforms.port import PlatformRefused

from .client import Client, answered, path
from .errors import Refused
from .rooms import Rooms
from .values import Payload, mapping, sequence


class Destinations:
    def __init__(self, client: Client, rooms: Rooms, own: str) -> None:
        self._client = client
        self._rooms = rooms
        self._own = own
        self._made: dict[str, str] = {}
        """Rooms of this life, by their users: the homeserver reports them only a moment later."""

    async def room(self, target: str) -> str:
        """Raises PlatformRefused for what is none."""
        if target.startswith("!"):
            return target
        if target.startswith("#"):
            return answered(await self._client.get(path("directory", "room", target)), "room_id")
        if target.startswith("@"):
            return await self._shared_with(target)
        expected = "a room (!id:server), an alias (#name:server) or a user (@name:server) is expected"
        raise PlatformRefused(f"target_id: '{target[:60]}' is no address of Matrix; {expected}", permanent=True)

    async def _shared_with(self, user_id: str) -> str:
        """The room that was made for the two of them, or else a new one."""
        if user_id in self._made:
            return self._made[user_id]
        direct = await self._known()
        for room_id in sequence(direct.get(user_id)):
            if room_id in self._rooms and self._rooms.of(room_id).chat_type == "private":
                return str(room_id)
        wishes: Payload = {"is_direct": True, "preset": "trusted_private_chat", "invite": [user_id]}
        room_id = answered(await self._client.post(path("createRoom"), wishes), "room_id")
        self._made[user_id] = room_id
        direct[user_id] = [*sequence(direct.get(user_id)), room_id]
        await self._client.put(path("user", self._own, "account_data", "m.direct"), direct)
        return room_id

    async def _known(self) -> Payload:
        try:
            return mapping(await self._client.get(path("user", self._own, "account_data", "m.direct")))
        except Refused as refused:
            if refused.code != "M_NOT_FOUND":
                raise
            return {}
