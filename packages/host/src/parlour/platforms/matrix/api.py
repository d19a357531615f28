"""Implements the platform API on Matrix. Every chat is a room; methods that are not overridden are not supported.

A target is a room id, an alias, or a user with whom the bot shares a direct chat.
"""

from collections.abc import Sequence
from urllib.parse import urlencode
from uuid import uuid4

from parlour.core.encoding import dumps
from parlour.core.platforms.api import IsKnownMessage, PlatformApi
from parlour.core.platforms.port import PlatformRefused
from parlour_sdk.protocol.chain import MessageChain
from parlour_sdk.protocol.people import ChatType, Group, GroupMember, User
from parlour_sdk.protocol.platform_api import MessageResult, PlatformMessage, UploadedFile

from .connection import HomeserverRefused, MatrixClient, api_path, require_field
from .content import decode_chain
from .encode import MatrixMessageContent, edit_content, encode, quoted_message_id, with_relation
from .media import MatrixFiles
from .rooms import MatrixRoom, MatrixRooms, local_part, server_of
from .values import Payload, mapping, number, sequence, text, too_deep

TYPING_MILLISECONDS = 6000
HISTORY_PAGE_SIZE = 100
ENCRYPTED_ROOM_ERROR = "the room is encrypted, which this bot can't do; talk to it in a room without encryption"


class RoomResolver:
    """Finds the room for a target, and creates a direct chat if there is none."""

    def __init__(self, client: MatrixClient, rooms: MatrixRooms, own_id: str) -> None:
        self._client = client
        self._rooms = rooms
        self._own_id = own_id
        self._created_rooms: dict[str, str] = {}
        """Direct chats created since the Host started, by user; the homeserver reports a new room only a little later.
        """

    async def resolve(self, target: str) -> str:
        """Returns the room id of a target. Raises PlatformRefused if it is not an address of Matrix."""
        if target.startswith("!"):
            return self._rooms.current(target)
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
        direct = await self.load_direct_rooms()
        for room_id in sequence(direct.get(user_id)):
            if room_id in self._rooms and self._rooms.get(room_id).chat_type == "private":
                return str(room_id)
        wishes: Payload = {"is_direct": True, "preset": "trusted_private_chat", "invite": [user_id]}
        room_id = require_field(await self._client.post(api_path("createRoom"), wishes), "room_id")
        self._created_rooms[user_id] = room_id
        direct[user_id] = [*sequence(direct.get(user_id)), room_id]
        await self._client.put(api_path("user", self._own_id, "account_data", "m.direct"), direct)
        return room_id

    async def load_direct_rooms(self) -> Payload:
        """Returns the rooms that the account's data calls direct chats, by user."""
        try:
            return mapping(await self._client.get(api_path("user", self._own_id, "account_data", "m.direct")))
        except HomeserverRefused as error:
            if error.code != "M_NOT_FOUND":
                raise
            return {}


class MatrixApi(PlatformApi):
    """Platform API of one Matrix account."""

    def __init__(
        self, client: MatrixClient, rooms: MatrixRooms, files: MatrixFiles, destinations: RoomResolver, own_id: str
    ) -> None:
        self._client = client
        self._rooms = rooms
        self._files = files
        self._destinations = destinations
        self._own_id = own_id

    async def send_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        """Sends a chain as one or more events. The result has the id of the first one; `raw` has all ids."""
        contents = encode(chain)
        if not contents:
            raise PlatformRefused("there is nothing in this message that Matrix could show", permanent=True)
        room_id = await self._room(target_id)
        key, reply_to, event_ids = idempotency_key or uuid4().hex, quoted_message_id(chain), []
        for number_, each in enumerate(contents):
            content = with_relation(await self._content(each), thread_id, "" if number_ else reply_to)
            event_ids.append(await self._send(room_id, "m.room.message", content, transaction_id(key, number_)))
        return MessageResult(message_id=event_ids[0], raw={"message_ids": event_ids})

    async def find_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str,
        is_known: IsKnownMessage,
        thread_id: str = "",
    ) -> MessageResult | None:
        """Looks up a sent message by transaction id, which the homeserver shows to the sender of an event."""
        room_filter = {"senders": [self._own_id], "types": ["m.room.message"]}
        path = api_path("rooms", await self._destinations.resolve(target_id), "messages")
        page = await self._client.get(path, {"dir": "b", "limit": HISTORY_PAGE_SIZE, "filter": dumps(room_filter)})
        events = [each for each in sequence(page.get("chunk")) if isinstance(each, dict)]
        ids_by_transaction = {
            text(mapping(each.get("unsigned")), "transaction_id"): text(each, "event_id") for each in events
        }
        found_ids = [
            ids_by_transaction.get(transaction_id(idempotency_key, number_)) for number_ in range(len(encode(chain)))
        ]
        return MessageResult(message_id=found_ids[0]) if found_ids and all(found_ids) else None

    async def edit_message(
        self, chat_type: ChatType, chat_id: str, message_id: str, chain: MessageChain
    ) -> MessageResult:
        contents = encode(chain)
        if len(contents) != 1 or contents[0].media is not None:
            raise PlatformRefused("a message can only be edited into one text", permanent=True)
        room_id = await self._room(chat_id)
        await self._send(room_id, "m.room.message", edit_content(contents[0].content, message_id), uuid4().hex)
        return MessageResult(message_id=message_id)

    async def delete_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> None:
        await self._redact(await self._destinations.resolve(chat_id), message_id)

    async def forward_message(
        self, from_chat_type: ChatType, from_chat_id: str, message_id: str, to_chat_type: ChatType, to_chat_id: str
    ) -> MessageResult:
        event = await self._event(await self._destinations.resolve(from_chat_id), message_id)
        content = {name: each for name, each in mapping(event.get("content")).items() if name != "m.relates_to"}
        if not content:
            raise PlatformRefused("this message was deleted", permanent=True)
        room_id, forwarded = await self._room(to_chat_id), {**content, "m.mentions": {}}
        return MessageResult(message_id=await self._send(room_id, "m.room.message", forwarded, uuid4().hex))

    async def get_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> PlatformMessage:
        room_id = await self._destinations.resolve(chat_id)
        event = await self._event(room_id, message_id)
        try:
            chain = decode_chain(event, self._own_id)
        except ValueError:
            raise PlatformRefused("this is no message, or it was deleted", permanent=True) from None
        return PlatformMessage(
            message_id=message_id,
            chat_type=chat_type,
            chat_id=chat_id,
            sender=self._rooms.get(room_id).user(text(event, "sender")),
            time=number(event.get("origin_server_ts")),
            chain=chain,
        )

    async def react(self, chat_type: ChatType, chat_id: str, message_id: str, reaction: str, add: bool = True) -> None:
        room_id = await self._destinations.resolve(chat_id)
        if not add:
            await self._redact(room_id, await self._own_reaction(room_id, message_id, reaction))
            return
        relation = {"rel_type": "m.annotation", "event_id": message_id, "key": reaction}
        try:
            await self._send(room_id, "m.reaction", {"m.relates_to": relation}, uuid4().hex)
        except HomeserverRefused as error:
            if error.code != "M_DUPLICATE_ANNOTATION":
                raise

    async def get_group_info(self, group_id: str) -> Group:
        room_id = await self._destinations.resolve(group_id)
        if room_id not in self._rooms:
            raise PlatformRefused(f"the bot is not in the room {room_id[:200]}", permanent=True)
        return self._rooms.get(room_id).group

    async def get_group_list(self) -> Sequence[Group]:
        return [room.group for room in self._rooms.all() if room.chat_type == "group"]

    async def get_group_member_list(self, group_id: str) -> Sequence[GroupMember]:
        room_id = await self._destinations.resolve(group_id)
        answer = await self._client.get(api_path("rooms", room_id, "joined_members"))
        room = self._rooms.get(room_id)
        return [member(room, user_id, mapping(each)) for user_id, each in mapping(answer.get("joined")).items()]

    async def get_group_member_info(self, group_id: str, user_id: str) -> GroupMember:
        room_id = await self._destinations.resolve(group_id)
        state = await self._client.get(api_path("rooms", room_id, "state", "m.room.member", user_id))
        if state.get("membership") != "join":
            raise PlatformRefused(f"{user_id[:200]} is not in this room", permanent=True)
        return member(self._rooms.get(room_id), user_id, state)

    async def set_group_name(self, group_id: str, name: str) -> None:
        room_id = await self._destinations.resolve(group_id)
        await self._client.put(api_path("rooms", room_id, "state", "m.room.name", ""), {"name": name})

    async def kick_member(self, group_id: str, user_id: str) -> None:
        await self._client.post(
            api_path("rooms", await self._destinations.resolve(group_id), "kick"), {"user_id": user_id}
        )

    async def leave_group(self, group_id: str) -> None:
        await self._client.post(api_path("rooms", await self._destinations.resolve(group_id), "leave"), {})

    async def get_user_info(self, user_id: str) -> User:
        return profile(user_id, await self._client.get(api_path("profile", user_id)))

    async def answer_group_invite(self, request_id: str, approve: bool) -> None:
        await self._client.post(api_path("rooms", request_id, "join" if approve else "leave"), {})

    async def join_replacement(self, room: MatrixRoom) -> None:
        """Joins the room that replaces another one, over the server of the user who upgraded it."""
        path = f"{api_path('join', room.replacement)}?{urlencode({'server_name': server_of(room.upgraded_by)})}"
        await self._client.post(path, {})

    async def upload_file(self, data: bytes, filename: str) -> UploadedFile:
        return UploadedFile(file_id=await self._files.upload(data, filename, ""))

    async def send_typing(self, chat_type: ChatType, chat_id: str, thread_id: str = "") -> None:
        path = api_path("rooms", await self._destinations.resolve(chat_id), "typing", self._own_id)
        await self._client.put(path, {"typing": True, "timeout": TYPING_MILLISECONDS})

    async def _room(self, target: str) -> str:
        """Resolves the room for a message.

        Encrypted rooms are refused, because the message would be sent unencrypted there.
        """
        room_id = await self._destinations.resolve(target)
        if self._rooms.get(room_id).encrypted:
            raise PlatformRefused(ENCRYPTED_ROOM_ERROR, permanent=True)
        return room_id

    async def _content(self, message: MatrixMessageContent) -> Payload:
        return message.content if message.media is None else await self._files.upload_message(message.media)

    async def _send(self, room_id: str, kind: str, content: Payload, key: str) -> str:
        return require_field(await self._client.put(api_path("rooms", room_id, "send", kind, key), content), "event_id")

    async def _redact(self, room_id: str, event_id: str) -> None:
        await self._client.put(api_path("rooms", room_id, "redact", event_id, uuid4().hex), {})

    async def _event(self, room_id: str, event_id: str) -> Payload:
        event = await self._client.get(api_path("rooms", room_id, "event", event_id))
        if too_deep(event):
            raise PlatformRefused("this event is malformed: it nests too deep to be read", permanent=True)
        return event

    async def _own_reaction(self, room_id: str, message_id: str, reaction: str) -> str:
        path = api_path("rooms", room_id, "relations", message_id, "m.annotation", "m.reaction").replace(
            "/v3/", "/v1/", 1
        )
        for each in sequence((await self._client.get(path, {"limit": HISTORY_PAGE_SIZE})).get("chunk")):
            event = mapping(each)
            relation = mapping(mapping(event.get("content")).get("m.relates_to"))
            if event.get("sender") == self._own_id and relation.get("key") == reaction:
                return text(event, "event_id")
        raise PlatformRefused(f"the bot has not reacted with {reaction[:40]}", permanent=True)


def transaction_id(key: str, number_: int) -> str:
    """Returns the transaction id of one of the events that make up a message; each has its own."""
    return f"{key}.{number_}" if number_ else key


def profile(user_id: str, content: Payload) -> User:
    avatar = text(content, "avatar_url") or None
    name = text(content, "displayname") or local_part(user_id)
    return User(id=user_id, nickname=name, username=user_id, avatar_url=avatar)


def member(room: MatrixRoom, user_id: str, content: Payload) -> GroupMember:
    """Builds a group member. The specification uses both `display_name` and `displayname`."""
    named_content = {**content, "displayname": text(content, "displayname") or text(content, "display_name")}
    user, role = profile(user_id, named_content), room.role(user_id)
    return GroupMember(user=user, group_id=room.chat_id, role=role, display_name=named_content["displayname"] or None)
