"""Implements the platform API on a Satori server. Methods that are not overridden do not exist in the protocol."""

from collections.abc import Callable, Sequence
from typing import Any

from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.port import PlatformOffline, PlatformRefused, PlatformUncertain
from parlour.platforms._kit.outgoing_files import Fetch, OutgoingFile
from parlour.platforms._kit.payloads import Payload, number, object_in, text
from parlour_sdk.protocol.chain import MessageChain, Source
from parlour_sdk.protocol.people import ChatType, Group, GroupMember, User
from parlour_sdk.protocol.platform_api import MessageResult, NotSupportedError, PlatformMessage, UploadedFile

from . import entities
from .channels import SatoriChannels
from .client import NotServed, SatoriClient
from .decode import message_chain
from .encode import SatoriFile, encode
from .entities import SERVICE, SatoriLogin

FOREVER_MILLISECONDS = 10 * 365 * 86_400_000
"""Satori ends a mute at once for 0, so that one for good is a long one."""


class SatoriApi(PlatformApi):
    """Platform API of one login of a server. `login` returns it, or None while it is offline."""

    def __init__(
        self, client: SatoriClient, channels: SatoriChannels, login: Callable[[], SatoriLogin | None], fetch: Fetch
    ) -> None:
        self._client = client
        self._channels = channels
        self._login = login
        self._fetch = fetch

    # --- messages

    async def send_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        """Sends a chain as one message; a server may split it. The result has the id of the first part."""
        content = await self._content(chain)
        channel_id = await self._channel(target_type, target_id)
        sent = await self._call("message.create", channel_id=channel_id, content=content)
        messages = sent if isinstance(sent, list) else [sent]
        ids = [text(each, "id") for each in messages if isinstance(each, dict) and text(each, "id")]
        if sent is None:
            raise PlatformUncertain(f"what answers at the address of {SERVICE} is something else")
        return MessageResult(message_id=ids[0] if ids else None, raw={"message_ids": ids})

    async def edit_message(
        self, chat_type: ChatType, chat_id: str, message_id: str, chain: MessageChain
    ) -> MessageResult:
        content, channel_id = await self._content(chain), await self._channel(chat_type, chat_id)
        await self._call("message.update", channel_id=channel_id, message_id=message_id, content=content)
        return MessageResult(message_id=message_id)

    async def delete_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> None:
        channel_id = await self._channel(chat_type, chat_id)
        await self._call("message.delete", channel_id=channel_id, message_id=message_id)

    async def get_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> PlatformMessage:
        channel_id = await self._channel(chat_type, chat_id)
        message = await self._object("message.get", channel_id=channel_id, message_id=message_id)
        author = object_in(message, "user")
        sent_at = number(message.get("created_at"))
        return PlatformMessage(
            message_id=message_id,
            chat_type=chat_type,
            chat_id=chat_id,
            sender=entities.user(author, object_in(message, "member")) if author else None,
            time=sent_at,
            chain=[Source(id=message_id, time=sent_at), *message_chain(message, {})],
        )

    async def react(self, chat_type: ChatType, chat_id: str, message_id: str, reaction: str, add: bool = True) -> None:
        channel_id = await self._channel(chat_type, chat_id)
        await self._call(
            f"reaction.{'create' if add else 'delete'}",
            channel_id=channel_id,
            message_id=message_id,
            emoji_id=reaction,
            emoji=reaction,
        )

    # --- guilds, channels and users

    async def get_group_info(self, group_id: str) -> Group:
        """Returns a channel or, under the id of a guild, that guild."""
        try:
            return entities.group(await self._object("channel.get", channel_id=group_id))
        except PlatformOffline:
            raise
        except PlatformRefused:
            return entities.group(await self._object("guild.get", guild_id=group_id))

    async def get_group_list(self) -> Sequence[Group]:
        """Returns the guilds that the bot is in."""
        return [entities.group(each) async for each in self._client.pages(self._online(), "guild.list", {})]

    async def get_group_member_list(self, group_id: str) -> Sequence[GroupMember]:
        guild_id = self._guild(group_id)
        pages = self._client.pages(self._online(), "guild.member.list", {"guild_id": guild_id})
        return [entities.member(each, guild_id) async for each in pages]

    async def get_group_member_info(self, group_id: str, user_id: str) -> GroupMember:
        guild_id = self._guild(group_id)
        member = await self._object("guild.member.get", guild_id=guild_id, user_id=user_id)
        return entities.member(member, guild_id, {"id": user_id})

    async def set_group_name(self, group_id: str, name: str) -> None:
        """Renames a channel. Satori has no call that renames a guild."""
        await self._call("channel.update", channel_id=group_id, data={"id": group_id, "type": 0, "name": name})

    async def mute_member(self, group_id: str, user_id: str, duration: int = 0) -> None:
        milliseconds = duration * 1000 if duration else FOREVER_MILLISECONDS
        guild_id = self._guild(group_id)
        await self._call("guild.member.mute", guild_id=guild_id, user_id=user_id, duration=milliseconds)

    async def unmute_member(self, group_id: str, user_id: str) -> None:
        await self._call("guild.member.mute", guild_id=self._guild(group_id), user_id=user_id, duration=0)

    async def kick_member(self, group_id: str, user_id: str) -> None:
        await self._call("guild.member.kick", guild_id=self._guild(group_id), user_id=user_id)

    async def get_user_info(self, user_id: str) -> User:
        return entities.user(await self._object("user.get", user_id=user_id))

    async def get_friend_list(self) -> Sequence[User]:
        pages = self._client.pages(self._online(), "friend.list", {})
        return [entities.user(object_in(each, "user") or each) async for each in pages]

    async def answer_friend_request(self, request_id: str, approve: bool, remark: str | None = None) -> None:
        await self._call("friend.approve", message_id=request_id, approve=approve, comment=remark)

    async def answer_group_invite(self, request_id: str, approve: bool) -> None:
        await self._call("guild.approve", message_id=request_id, approve=approve)

    async def upload_file(self, data: bytes, filename: str) -> UploadedFile:
        """Uploads a file; messages of the same login show it by this address."""
        file = OutgoingFile(data, filename, "application/octet-stream")
        return UploadedFile(url=await self._client.upload(self._online(), file))

    async def call_platform_api(self, action: str, params: dict[str, Any]) -> Any:
        if action != "internal":
            raise NotSupportedError(f"the action {action}")
        return await self._client.call(self._online(), f"internal/{params['method']}", dict(params.get("params") or {}))

    # --- calls

    def _online(self) -> SatoriLogin:
        login = self._login()
        if login is None:
            raise PlatformOffline("the bot's account is not online at the Satori server", retry_after=1.0)
        return login

    async def _call(self, method: str, **params: Any) -> Any:
        return await self._client.call(self._online(), method, params)

    async def _object(self, method: str, **params: Any) -> Payload:
        answer = await self._call(method, **params)
        if not isinstance(answer, dict):
            raise NotServed(f"{SERVICE} or the platform behind it does not serve {method}", permanent=True)
        return answer

    async def _channel(self, chat_type: ChatType, chat_id: str) -> str:
        return await self._channels.direct(self._online(), chat_id) if chat_type == "private" else chat_id

    def _guild(self, group_id: str) -> str:
        return self._channels.guild(self._online(), group_id)

    async def _content(self, chain: MessageChain) -> str:
        pieces = await encode(chain, self._fetch)
        return "".join(
            [
                each.write(await self._client.upload(self._online(), each.file))
                if isinstance(each, SatoriFile)
                else each
                for each in pieces
            ]
        )
