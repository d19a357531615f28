"""Resolves the room of a target: a room id, an alias, or a user with whom the bot shares a direct chat."""

from parlour.core.platforms.port import PlatformRefused

from .client import MatrixClient, api_path, require_field
from .errors import HomeserverRefused
from .rooms import MatrixRooms
from .values import Payload, mapping, sequence


class RoomResolver:
    """Finds the room for a target, and creates a direct chat if there is none."""

    def __init__(self, client: MatrixClient, rooms: MatrixRooms, own: str) -> None:
        self._client = client
        self._rooms = rooms
        self._own = own
        self._created_rooms: dict[str, str] = {}
        """Direct chats created since the Host started, by user; the homeserver reports a new room only a little later.
        """

    async def resolve(self, target: str) -> str:
        """Returns the room id of a target. Raises PlatformRefused if it is not an address of Matrix."""
        if target.startswith("!"):
            return target
        if target.startswith("#"):
            return require_field(await self._client.get(api_path("directory", "room", target)), "room_id")
        if target.startswith("@"):
            return await self._direct_chat(target)
        expected = "a room (!id:server), an alias (#name:server) or a user (@name:server) is expected"
        raise PlatformRefused(f"target_id: '{target[:60]}' is no address of Matrix; {expected}", permanent=True)

    async def _direct_chat(self, user_id: str) -> str:
        """Returns the direct chat with a user, creating it if there is none."""
        if user_id in self._created_rooms:
            return self._created_rooms[user_id]
        direct = await self._known()
        for room_id in sequence(direct.get(user_id)):
            if room_id in self._rooms and self._rooms.get(room_id).chat_type == "private":
                return str(room_id)
        wishes: Payload = {"is_direct": True, "preset": "trusted_private_chat", "invite": [user_id]}
        room_id = require_field(await self._client.post(api_path("createRoom"), wishes), "room_id")
        self._created_rooms[user_id] = room_id
        direct[user_id] = [*sequence(direct.get(user_id)), room_id]
        await self._client.put(api_path("user", self._own, "account_data", "m.direct"), direct)
        return room_id

    async def _known(self) -> Payload:
        try:
            return mapping(await self._client.get(api_path("user", self._own, "account_data", "m.direct")))
        except HomeserverRefused as refused:
            if refused.code != "M_NOT_FOUND":
                raise
            return {}
